"""Fixes of texts, and what they must leave alone."""

from collections.abc import Iterator

from probelet.lint.change import Change, Fix
from probelet.lint.finding import Finding
from probelet.lint.fix.fixed import Fixed, fixed
from probelet.spec.read.tree import Node, documents


def finding(*changes: Change, document: int = 0, prefix: str = "") -> Finding:
    """A finding with a safe fix."""
    return Finding(
        rule="PL000",
        severity="error",
        object="",
        path="",
        file="web.yaml",
        line=1,
        column=1,
        message="",
        fix=Fix("change it", changes, is_safe=True),
        document=document,
        prefix=prefix,
    )


def after(text: str, *changes: Change) -> Fixed:
    """The text with the changes of its first document."""
    return fixed(text, [finding(*changes)])


def probes(text: str) -> Iterator[tuple[int, str, Node]]:
    """Every probe in a text: its document, path and value."""
    for number, document in enumerate(documents(text)):
        for path, node in _below(document.root, ""):
            name = path.rpartition(".")[2]
            if name in ("livenessProbe", "readinessProbe", "startupProbe") and isinstance(node.value, dict):
                yield number, path, node


def _below(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    yield path, node
    if isinstance(node.value, dict):
        for name, member in node.value.items():
            # A name with a dot or a bracket is no step of a path.
            if not {*".[]"} & {*name}:
                yield from _below(member.node, f"{path}.{name}".lstrip("."))
    elif isinstance(node.value, list):
        for index, item in enumerate(node.value):
            yield from _below(item, f"{path}[{index}]")
