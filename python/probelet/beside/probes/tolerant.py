"""Parts of objects that nobody has checked: what has another type counts as absent."""

from typing import Any


def fields(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The items of a list, each as an object; none if the value is no list."""
    return [fields(item) for item in value] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
