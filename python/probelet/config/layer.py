"""The files that make up one document of the configuration, lowest precedence first."""

from pathlib import Path

from probelet.config.drop_in import merge_patch
from probelet.spec.read.tree import Document, Node, locate


class Layers:
    """One kind of document, as the main file and the drop-ins have it."""

    def __init__(self) -> None:
        self._layers: list[tuple[Path, Node]] = []

        self._merged = Node({}, 0)

    def add(self, path: Path, root: Node, *, patch: bool) -> None:
        """One more file on top: the main one as it is, a drop-in as a patch, in which null deletes."""
        self._layers.append((path, root))
        self._merged = merge_patch(self._merged, root) if patch else root

    def merged(self) -> Document:
        """All of them in one. Duplicate keys were reported file by file."""
        return Document(self._merged, [])

    def place(self, field: str) -> tuple[Path | None, int]:
        """File and line that a field comes from, or that its nearest parent does; no file when none was read."""
        for path, root in reversed(self._layers):
            if holds(root, field):
                return path, locate(root, field)
        return (self._layers[-1][0], 0) if self._layers else (None, 0)

    def origin(self, field: str) -> str | None:
        """``c.yaml:3`` for a field that is written down somewhere."""
        path, line = self.place(field)
        return f"{path}:{line}" if line else None


def holds(root: Node, field: str) -> bool:
    """Whether a document sets a field of our own or of the kubelet's: ``a.b``, ``featureGates[Name]``."""
    node = root
    for name in field.replace("[", ".").replace("]", "").split("."):
        if not isinstance(node.value, dict) or name not in node.value:
            return False
        node = node.value[name].node
    return True
