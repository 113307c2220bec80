"""Replaces a file's contents in one step."""

import stat
from pathlib import Path


def replace_contents(path: Path, data: bytes) -> None:
    """Writes a file of its own and renames it: a reader sees the old contents or the new ones, and a full disk costs
    nothing. The mode of the file stays, and a link keeps its target. A pipe or a device is written to. Raises OSError.
    """
    target = path.resolve()
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        path.write_bytes(data)
        return
    fresh = target.with_name(f".{target.name}.probelet")
    try:
        fresh.write_bytes(data)
        if mode is not None:
            fresh.chmod(stat.S_IMODE(mode))
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
