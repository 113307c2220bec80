"""A directory of this process alone, for as long as it lives; what killed processes left is removed.

The lock on the directory says whether its process lives: the kernel releases it with the process.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from probelet.base.files.below import remove_tree

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def private_directory(prefix: str) -> Iterator[Path]:
    """Makes a directory (0700) for temporary files whose name begins with ``prefix``; the end removes it.

    It first removes directories of this user with that prefix whose process is gone. Raises OSError.
    """
    _remove_abandoned(Path(tempfile.gettempdir()), prefix)
    fd, path = _locked(prefix)
    try:
        yield path
    finally:
        remove_tree(path.parent, path.name)
        os.close(fd)


def _locked(prefix: str) -> tuple[int, Path]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix))
        with suppress(FileNotFoundError, BlockingIOError):
            fd = os.open(path, _OPEN)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Another process may have taken the directory for an abandoned one before it had a lock.
                if os.path.samestat(os.fstat(fd), path.lstat()):
                    return fd, path
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(path: Path) -> None:
    fd = os.open(path, _OPEN)
    try:
        if os.fstat(fd).st_uid == os.getuid():
            # Fails if the directory's process lives.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(path.parent, path.name)
    finally:
        os.close(fd)
