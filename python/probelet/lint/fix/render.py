"""Values as text: as JSON, in YAML's flow style or in its block style."""

import json
import re
from typing import Final

from probelet.lint.change import Plain
from probelet.spec.read.tree import resolve

# Texts that every reader of YAML takes for themselves without quotes.
_BARE: Final = re.compile(r"[A-Za-z0-9_/.][A-Za-z0-9_/.?=&+-]*")


def scalar(value: bool | int | str | None, *, is_json: bool) -> str:
    """A value of one line."""
    if isinstance(value, str) and not is_json and _BARE.fullmatch(value) and resolve(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def flow(value: Plain, *, is_json: bool) -> str:
    """A value in brackets and braces, in one line."""
    if isinstance(value, dict):
        members = (f"{scalar(key, is_json=is_json)}: {flow(item, is_json=is_json)}" for key, item in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(flow(item, is_json=is_json) for item in value)}]"
    return scalar(value, is_json=is_json)


def block(name: str, value: Plain, indent: int, step: int) -> list[str]:
    """The lines of a member in block style. The first one has no indent: the caller puts it where the key stands."""
    head = f"{scalar(name, is_json=False)}:"
    if isinstance(value, dict) and value:
        lines = [head]
        for key, item in value.items():
            first, *rest = block(key, item, indent + step, step)
            lines += [" " * (indent + step) + first, *rest]
        return lines
    return [f"{head} {flow(value, is_json=False)}"]
