"""The drop-in directory of the configuration (``--config-dir``, KEP-3983), and how its files change the main one."""

import os
from pathlib import Path

from probelet.spec.read.tree import Member, Node

# Only names that end so are read; editors' left-overs and notes are not (kubelet cmd/kubelet/app/server.go, 1.36).
SUFFIX = ".conf"


def drop_in_files(folder: Path) -> list[Path]:
    """Every ``*.conf`` under a directory, in the order in which they are merged: ``10-a.conf`` before ``9-b.conf``.

    As Go's WalkDir: by name inside each directory, a directory's own files at its place among its siblings. Links to
    files count, links to directories are not followed. Raises OSError for a directory that cannot be read.
    """
    found: list[Path] = []
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        if path.is_dir() and not path.is_symlink():
            found += drop_in_files(path)
        elif path.name.endswith(SUFFIX):
            found.append(path)
    return found


def merge_patch(target: Node | None, patch: Node) -> Node:
    """RFC 7386: mappings merge by key, a null deletes its key, everything else replaces what was there."""
    if not isinstance(patch.value, dict):
        return patch
    merged = dict(target.value) if target is not None and isinstance(target.value, dict) else {}
    for name, member in patch.value.items():
        if member.node.value is None:
            merged.pop(name, None)
        else:
            known = merged.get(name)
            merged[name] = Member(member.line, merge_patch(None if known is None else known.node, member.node))
    return Node(merged, patch.line)
