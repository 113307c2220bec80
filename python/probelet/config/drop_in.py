"""The configuration's drop-in directory (``--config-dir``, KEP-3983), and the merge of its files."""

import os
from pathlib import Path

from probelet.spec.read.tree import Member, Node

# Other names, such as editors' backups and notes, are ignored (kubelet cmd/kubelet/app/server.go, 1.36).
SUFFIX = ".conf"


def drop_in_files(folder: Path) -> list[Path]:
    """Every ``*.conf`` under ``folder`` in merge order: ``10-a.conf`` before ``9-b.conf``.

    The order is that of Go's WalkDir: sorted names, and a directory's files at the place of the directory. Links to
    files count; links to directories are not followed. Raises OSError for an unreadable directory.
    """
    found: list[Path] = []
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        if path.is_dir() and not path.is_symlink():
            found += drop_in_files(path)
        elif path.name.endswith(SUFFIX):
            found.append(path)
    return found


def merge_patch(target: Node | None, patch: Node) -> Node:
    """RFC 7386: mappings merge by key, a null deletes its key, any other value replaces the old one."""
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
