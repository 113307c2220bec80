"""Suppressions of a whole object: the annotation ``probelet.dev/lint-ignore: PL101 reason=...; PL205 reason=...``.

It stands in the metadata of the object or of its pod template, and survives what loses comments: Helm, kustomize, JSON.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from probelet.lint.suppress.entry import Entry, read_entry
from probelet.spec.read.tree import Node, members_on_way

ANNOTATION: Final = "probelet.dev/lint-ignore"

_BETWEEN: Final = re.compile(r"[;\n]\s*(?=P[LO]\d|$)")


class Ignored(NamedTuple):
    """One entry of the annotation."""

    path: str
    """The annotation's path in the object."""
    entry: Entry


def ignored(root: Node, template: str) -> Iterator[Ignored]:
    """The entries of an object; ``template`` is the path of its pod template, empty for a Pod."""
    for owner in dict.fromkeys(("", template)):
        path = f"{owner}.metadata.annotations".removeprefix(".")
        *_, last = members_on_way(root, f"{path}[{ANNOTATION}]")
        found = last.node.value
        if isinstance(found, str) and last.node is not root and _is_annotation(root, path, last.node):
            for text in _BETWEEN.split(found):
                if text.strip():
                    yield Ignored(f"{path}[{ANNOTATION}]", read_entry(text))


def _is_annotation(root: Node, path: str, node: Node) -> bool:
    """True if ``node`` is the annotation itself, and not the nearest parent of one that is missing."""
    *_, parent = members_on_way(root, path)
    value = parent.node.value
    return isinstance(value, dict) and ANNOTATION in value and value[ANNOTATION].node is node
