"""The files of one configuration document, lowest precedence first."""

from pathlib import Path

from probelet.config.drop_in import merge_patch
from probelet.spec.read.tree import Document, Node, locate


class Layers:
    """One kind of document across the main file and the drop-ins."""

    def __init__(self) -> None:
        self._layers: list[tuple[Path, Node]] = []

        self._merged = Node({}, 0)

    def add(self, path: Path, root: Node, *, patch: bool) -> None:
        """Adds a file on top: the main file replaces, a drop-in (``patch``) merges, and its nulls delete."""
        self._layers.append((path, root))
        self._merged = merge_patch(self._merged, root) if patch else root

    def merged(self) -> Document:
        """The merged document. Each file has already reported its own duplicate keys."""
        return Document(self._merged, [])

    def place(self, field: str) -> tuple[Path | None, int]:
        """The file and line of ``field``, or of its nearest parent; no file if none was read."""
        for path, root in reversed(self._layers):
            if holds(root, field):
                return path, locate(root, field)
        return (self._layers[-1][0], 0) if self._layers else (None, 0)

    def origin(self, field: str) -> str | None:
        """``c.yaml:3`` for a field that a file sets, else None."""
        path, line = self.place(field)
        return f"{path}:{line}" if line else None


def holds(root: Node, field: str) -> bool:
    """True if the document sets the field, written as ``a.b`` or ``featureGates[Name]``."""
    node = root
    for name in field.replace("[", ".").replace("]", "").split("."):
        if not isinstance(node.value, dict) or name not in node.value:
            return False
        node = node.value[name].node
    return True
