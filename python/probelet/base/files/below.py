"""Works on what is below a root directory. Each name is one entry of its directory, and no link on the way is followed,
so a foreign name can reach nothing outside the root. The root itself is the administrator's to choose, links included.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def entry(name: str) -> str:
    """``name`` if it can name an entry of a directory. Raises OSError for ``..``, ``a/b`` and the like."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "not a name of a file", name)
    return name


@contextmanager
def directory(root: Path, *names: str, make: bool = False) -> Iterator[int]:
    """The descriptor of the directory ``names`` below ``root``; with ``make`` missing ones are made. Raises OSError."""
    if make:
        root.mkdir(parents=True, exist_ok=True)
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in map(entry, names):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=fd)
            below = os.open(name, _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def make_directory(root: Path, *names: str) -> None:
    """Makes the directory ``names`` below ``root``, if it is missing, and those above it. Raises OSError."""
    with directory(root, *names, make=True):
        pass


def open_to_append(root: Path, *names: str) -> int:
    """Opens the regular file ``names`` below ``root`` for appending, and makes it and its directories (0640)."""
    return _open(root, names, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)


def open_to_replace(root: Path, *names: str) -> int:
    """Opens the regular file ``names`` below ``root`` for writing, empty, and makes it and its directories (0600)."""
    return _open(root, names, os.O_WRONLY | os.O_TRUNC | os.O_CREAT, 0o600)


def open_to_read(root: Path, *names: str) -> int:
    """Opens the regular file ``names`` below ``root`` for reading."""
    return _open(root, names, os.O_RDONLY)


def _open(root: Path, names: tuple[str, ...], flags: int, mode: int = 0) -> int:
    """Raises OSError, also for a link, a pipe or a device in the file's place, which could lead elsewhere or block."""
    *folders, name = names
    with directory(root, *folders, make=bool(flags & os.O_CREAT)) as folder:
        fd = os.open(entry(name), flags | _FILE, mode, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return fd


def rename(root: Path, *names: str, to: str) -> None:
    """Renames the file ``names`` below ``root`` within its directory. Raises OSError."""
    *folders, name = names
    with directory(root, *folders) as folder:
        os.replace(entry(name), entry(to), src_dir_fd=folder, dst_dir_fd=folder)


def names_in(root: Path, *names: str) -> list[str]:
    """The entries of the directory ``names`` below ``root``; none if it cannot be listed."""
    try:
        with directory(root, *names) as folder, os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def remove_file(root: Path, *names: str) -> None:
    """Deletes the file ``names`` below ``root``, if it is there. Raises OSError."""
    *folders, name = names
    with suppress(FileNotFoundError), directory(root, *folders) as folder:
        os.unlink(entry(name), dir_fd=folder)


def remove_tree(root: Path, name: str) -> None:
    """Deletes the directory ``name`` of ``root`` with its contents, as far as the system allows. Raises OSError if
    ``name`` is no name of a file, or the system cannot open ``root``."""
    assert shutil.rmtree.avoids_symlink_attacks
    entry(name)
    # A program may have nested directories deeper than Python's stack; the rest of those stays.
    with suppress(FileNotFoundError, RecursionError), directory(root) as folder:
        shutil.rmtree(name, dir_fd=folder, ignore_errors=True)
