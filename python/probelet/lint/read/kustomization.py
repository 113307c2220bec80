"""Which files a kustomization names as patches: parts of objects, which it merges into whole ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from probelet.spec.read.load import manifest_text
from probelet.spec.read.tree import TreeError, documents

NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")

ABOVE: Final = 3
"""Directories above a file that may have its kustomization: patches mostly stand in a directory of their own."""


class Kustomizations:
    """The kustomizations around the files of a run, each read once."""

    def __init__(self) -> None:
        self._patches: dict[Path, frozenset[Path]] = {}

    def patched_by(self, path: Path) -> str:
        """The file that names this one as a patch, as a path that ends with it; empty if none does."""
        absolute = path.absolute()
        for folder in [*absolute.parents][: ABOVE + 1]:
            if absolute in self._patches_of(folder):
                return "/".join(("..",) * (len(absolute.parent.parts) - len(folder.parts)) + (NAMES[0],))
        return ""

    def _patches_of(self, folder: Path) -> frozenset[Path]:
        if folder not in self._patches:
            self._patches[folder] = frozenset(_named(folder))
        return self._patches[folder]


def _named(folder: Path) -> Iterator[Path]:
    """The files that the kustomization of a directory names as patches."""
    path = next((found for name in NAMES if (found := folder / name).is_file()), None)
    text = None if path is None else manifest_text(path)
    if not isinstance(text, str):
        return
    try:
        roots = [document.root.plain() for document in documents(text)]
    except TreeError:
        # It has a finding of its own.
        return
    for each in roots:
        if isinstance(each, dict):
            yield from (Path(_normal(folder, name)) for name in _names(each))


def _names(kustomization: dict[str, Any]) -> Iterator[str]:
    """``patches[].path``, ``patchesJson6902[].path`` and ``patchesStrategicMerge[]``; the last ones may be texts."""
    for field in ("patches", "patchesJson6902", "patchesStrategicMerge"):
        entries = kustomization.get(field)
        for entry in entries if isinstance(entries, list) else ():
            name = entry.get("path") if isinstance(entry, dict) else entry
            if isinstance(name, str) and "\n" not in name:
                yield name


def _normal(folder: Path, name: str) -> str:
    """The path without ``..``, so that it equals that of the file."""
    parts: list[str] = [*folder.parts]
    for part in Path(name).parts:
        if part == "..":
            parts = parts[:-1] or parts
        else:
            parts.append(part)
    return str(Path(*parts))
