"""The stamp of a file: it tells that the file was changed or replaced, without reading it."""

import stat
from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """Changes when a file is changed or replaced."""

    modified_ns: int
    size: int
    inode: int
    device: int


FOLDER = Stamp(0, 0, 0, 1)
"""The stamp of a directory."""

UNSEEN = Stamp(0, 0, 0, 0)
"""The stamp of a file that exists and has no readable status; reading the file says why."""


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file; None if there is no file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return UNSEEN if path.is_symlink() else None
    except OSError:
        return UNSEEN
    if stat.S_ISDIR(found.st_mode):
        return FOLDER
    # The time of a pipe or a device changes with every write; reading refuses both.
    modified_ns = found.st_mtime_ns if stat.S_ISREG(found.st_mode) else 0
    return Stamp(modified_ns, found.st_size, found.st_ino, found.st_dev)
