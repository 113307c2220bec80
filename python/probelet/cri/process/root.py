"""The directory of one runtime: claimed by a lock, gone when the runtime is."""

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from probelet.cri.process import process_tree
from probelet.cri.process.spawn import ROOT_VARIABLE
from probelet.errors import ProbeletError

LOCK_NAME = "runtime.lock"

CLAIM_SECONDS = 3.0
"""For the runtime of an owner that has just died to let go of the root; it promises one second."""

KILL_SECONDS = 2.0
"""For processes that an earlier runtime left running to go."""

LOOK_AGAIN_SECONDS = 0.02
"""Between two tries to get the lock."""


class RootError(ProbeletError):
    """The directory cannot be a runtime's root; the text is one line for the user."""


class Root:
    """A claimed root. The lock lasts as long as a process holds the file open: guard and runtime, no container."""

    def __init__(self, path: Path, socket: Path) -> None:
        """Claim ``path``, made if need be, and clear it of what a runtime killed outright left. Raises RootError.

        The socket must be a file in the root: only its user gets there, and gRPC replaces whatever socket it finds.
        """
        self.path = path
        if socket.parent != path:
            raise RootError(f"socket {socket}: must be a file in the root {path}")
        try:
            self._lock = _locked(path)
            if os.fstat(self._lock).st_size:
                kill_left_behind(path)
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
        """Delete the directory with all that is in it. Removing twice is fine."""
        with suppress(OSError):
            self._clear()
            # The lock goes last: without it the rest would look like somebody else's directory.
            (self.path / LOCK_NAME).unlink(missing_ok=True)
            self.path.rmdir()


def _locked(path: Path) -> int:
    """The open lock file of the root, once nobody else holds it."""
    lock_path = path / LOCK_NAME
    deadline = time.monotonic() + CLAIM_SECONDS
    while True:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not lock_path.exists() and any(path.iterdir()):
            raise RootError(f"root {path}: is not empty and not the root of a process runtime")
        lock = os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before us deletes the file as its last act; what we opened may be that deleted one.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), lock_path.stat()):
                    return lock
        except BlockingIOError:
            if time.monotonic() > deadline:
                owner = os.pread(lock, 16, 0).decode("ascii", "replace").strip()
                os.close(lock)
                raise RootError(f"root {path}: in use by the process runtime with pid {owner or 'unknown'}") from None
        os.close(lock)
        time.sleep(LOOK_AGAIN_SECONDS)


def kill_left_behind(root: Path) -> None:
    """SIGKILL what an earlier runtime on this root left running."""
    mark = os.fsencode(root)
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        table = process_tree.processes()
        heads = [pid for pid in table if process_tree.environment_of(pid).get(ROOT_VARIABLE) == mark]
        left = process_tree.families(heads, table)
        if not left:
            return
        for row in left:
            process_tree.kill(row.pid)
        time.sleep(process_tree.LOOK_AGAIN_SECONDS)
