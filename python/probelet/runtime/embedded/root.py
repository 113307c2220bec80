"""The directory of one runtime: claimed by a lock, removed when the runtime ends."""

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from probelet.errors import ProbeletError
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.marks import ROOT_VARIABLE

LOCK_NAME = "runtime.lock"

CLAIM_SECONDS = 3.0
"""Time for the runtime of a dead owner to release the root; it promises one second."""

KILL_SECONDS = 2.0
"""Time for an earlier runtime's remaining processes to exit."""

LOOK_AGAIN_SECONDS = 0.02
"""Pause between two attempts to lock."""


class RootError(ProbeletError):
    """The directory cannot be a runtime's root; the message is one line for the user."""


class Root:
    """A claimed root. The lock lasts as long as guard or runtime holds the file open; containers do not inherit it."""

    def __init__(self, path: Path, socket: Path) -> None:
        """Claims ``path``, makes it if missing, and clears what a killed runtime left there. Raises RootError.

        The socket must be a file in the root: only its user can reach it there, and gRPC replaces any socket it finds.
        """
        self.path = path
        if socket.parent != path:
            raise RootError(f"socket {socket}: must be a file in the root {path}")
        try:
            self._lock = _locked(path)
            if os.fstat(self._lock).st_size:
                kill_remaining(path)
                self._clear()
            path.chmod(0o700)
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            raise RootError(f"root {path}: {error.strerror}") from None

    def _clear(self) -> None:
        for entry in self.path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != LOCK_NAME:
                entry.unlink(missing_ok=True)

    def remove(self) -> None:
        """Deletes the directory with its contents. A second call does nothing."""
        with suppress(OSError):
            self._clear()
            # Delete the lock last: without it the rest would look like another program's directory.
            (self.path / LOCK_NAME).unlink(missing_ok=True)
            self.path.rmdir()


def _locked(path: Path) -> int:
    """Opens and locks the root's lock file."""
    lock_path = path / LOCK_NAME
    deadline = time.monotonic() + CLAIM_SECONDS
    while True:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not lock_path.exists() and any(path.iterdir()):
            raise RootError(f"root {path}: is not empty and not the root of an embedded runtime")
        lock = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder deletes the file as its last act; we may have opened that deleted file.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), lock_path.stat()):
                    return lock
        except BlockingIOError:
            if time.monotonic() > deadline:
                owner = os.pread(lock, 16, 0).decode("ascii", "replace").strip()
                os.close(lock)
                raise RootError(f"root {path}: in use by the embedded runtime with pid {owner or 'unknown'}") from None
        os.close(lock)
        time.sleep(LOOK_AGAIN_SECONDS)


def kill_remaining(root: Path) -> None:
    """SIGKILLs the processes that an earlier runtime on this root left running."""
    mark = os.fsencode(root)
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        table = process_tree.processes()
        marked = [pid for pid in table if process_tree.environment_of(pid).get(ROOT_VARIABLE) == mark]
        left = process_tree.living_descendants(marked, table)
        if not left:
            return
        for row in left:
            process_tree.kill(row.pid)
        time.sleep(process_tree.LOOK_AGAIN_SECONDS)
