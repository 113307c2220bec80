"""The objects of a document: the document itself, or the items of a List, however deep."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from probelet.spec.read.kinds import KINDS, Kind, kind_mistake
from probelet.spec.read.tree import Node, locate
from probelet.spec.text.problem import go_value, shorten

Reason: TypeAlias = Literal["value", "kind", "apiVersion", "items", "unknown"]


class RawObject(NamedTuple):
    """An object of which only apiVersion and kind have been read. Both are set, and fit to each other."""

    root: Node
    """A mapping."""
    prefix: str
    """The path of the object in its document: ``items[0]``, or empty."""
    version: str
    kind: str

    @property
    def with_pods(self) -> Kind | None:
        """How the pods of the object are read; None if its kind has none."""
        kind = KINDS.get(self.kind)
        return kind if kind is not None and kind.version == self.version else None


class NotAnObject(NamedTuple):
    """A part of a document that should be an object, and the mistake in it."""

    reason: Reason
    """``value``: it is no mapping. ``kind`` or ``apiVersion``: this one is missing, or both are, which is ``kind``.
    ``items``: a List without a list. ``unknown``: no API has this kind, or not in this version."""
    message: str
    line: int
    field: str
    """The path in the document."""


def each_object(root: Node, prefix: str = "", version: str = "", kind: str = "") -> Iterator[RawObject | NotAnObject]:
    """The objects at and below ``root``; ``version`` and ``kind`` are those of a typed List around it."""
    if not isinstance(root.value, dict):
        message = f"{shorten(go_value(root.plain()))} is not a Kubernetes object"
        yield NotAnObject("value", message, root.line, prefix)
        return
    version, kind = root.text_of("apiVersion") or version, root.text_of("kind") or kind
    if not version or not kind:
        yield _incomplete(root, prefix, kind)
        return
    item = kind.removesuffix("List")
    if item != kind and (item in KINDS or "items" in root.value if item else version == "v1"):
        yield from _items(root, prefix, version, item)
        return
    mistake = kind_mistake(version, kind)
    if mistake is None:
        yield RawObject(root, prefix, version, kind)
    else:
        error = mistake.shortened()
        yield NotAnObject("unknown", error.body, locate(root, error.path), f"{prefix}.{error.path}".removeprefix("."))


def _incomplete(root: Node, prefix: str, kind: str) -> NotAnObject:
    missing: Reason = "apiVersion" if kind else "kind"
    known = f": a {kind} has {go_value(KINDS[kind].version)}" if kind in KINDS else ""
    message = f"Required value: a Kubernetes object has an apiVersion and a kind{known}"
    return NotAnObject(missing, message, locate(root, missing), f"{prefix}.{missing}".removeprefix("."))


def _items(root: Node, prefix: str, version: str, kind: str) -> Iterator[RawObject | NotAnObject]:
    items = root.value["items"].node if isinstance(root.value, dict) and "items" in root.value else None
    field = f"{prefix}.items".removeprefix(".")
    if items is None or not isinstance(items.value, list):
        yield NotAnObject("items", "Required value: must be a list of objects", root.line, field)
        return
    for index, item in enumerate(items.value):
        # The items of a typed List need no kind; those of a v1 List do.
        yield from each_object(item, f"{field}[{index}]", version if kind else "", kind)
