"""Changes of plain values: what a changed text has to say."""

from typing import Any

from probelet.lint.change import Change, Remove, Replace, Set
from probelet.spec.read.tree import steps


def changed(value: Any, prefix: str, changes: tuple[Change, ...]) -> Any:
    """A copy of a document with the changes of its object at ``prefix``. Raises LookupError if a field's parent is not
    there."""
    for change in changes:
        value = _changed(value, steps(joined(prefix, change.path)), change)
    return value


def joined(prefix: str, path: str) -> str:
    """The path in the document of a field of the object at ``prefix``."""
    return f"{prefix}.{path}".strip(".")


def _changed(value: Any, way: list[str], change: Change) -> Any:
    if len(way) > 1:
        if isinstance(value, list):
            index = int(way[0])
            return [_changed(item, way[1:], change) if at == index else item for at, item in enumerate(value)]
        return {**value, way[0]: _changed(value[way[0]], way[1:], change)}
    name = way[0]
    match change:
        case Set():
            return {**value, name: change.value}
        case Remove():
            return {key: item for key, item in value.items() if key != name}
        case Replace():
            return {
                (change.name if key == name else key): (change.value if key == name else item)
                for key, item in value.items()
            }
