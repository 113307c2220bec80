"""The state directory: one service in each, found by its control socket.

The lock is held on the directory itself, not on a file in it, so that a service that is killed leaves
no lock file, and the kernel lets go of the lock with the process.
"""

import fcntl
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from probelet.server.error import ServerError
from probelet.server.unix_path import check_unix_path

SOCKET_NAME = "control.sock"


def default_state_dir() -> Path:
    """``$XDG_RUNTIME_DIR/probelet``, or ``/tmp/probelet-UID`` where there is no such directory."""
    runtime_dir = os.environ.get("XDG_RUNTIME_DIR")
    if runtime_dir and Path(runtime_dir).is_dir():
        return Path(runtime_dir) / "probelet"
    return Path(f"/tmp/probelet-{os.getuid()}")


def socket_path(state_dir: Path) -> Path:
    """Where the control socket of a state directory is."""
    return state_dir / SOCKET_NAME


@contextmanager
def locked_state_dir(path: Path) -> Iterator[Path]:
    """Make the directory (0700) if it is not there and own it until the context ends.

    At the end the socket goes, and the directory too if it was made here and nothing else is in it.
    Raises ServerError with one line: another service has it, it belongs to somebody else, it cannot be made, something
    else has the socket's name.
    """
    check_unix_path(socket_path(path.absolute()), f"--state-dir {path}: {SOCKET_NAME}")
    fd, made = _lock(path)
    try:
        # Whoever left a socket here is gone: its lock is ours.
        socket_path(path).unlink(missing_ok=True)
        yield path
    finally:
        socket_path(path).unlink(missing_ok=True)
        if made:
            with suppress(OSError):
                path.rmdir()
        os.close(fd)


def _lock(path: Path) -> tuple[int, bool]:
    while True:
        made = _make(path)
        fd = _open(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise ServerError(f"--state-dir {path}: {_holder(path)} runs here; stop it or choose another") from None
        # The service before us may have removed the directory between our open and our lock.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), path.stat()):
                return fd, made
        os.close(fd)


def _make(path: Path) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
    except FileExistsError:
        return False
    except OSError as error:
        raise ServerError(f"--state-dir {path}: cannot make it: {error.strerror}") from error
    return True


def _open(path: Path) -> int:
    """Open a directory that only its owner, us, can put things into: others must not plant a socket for clients."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ServerError(f"--state-dir {path}: {error.strerror}") from error
    found = os.fstat(fd)
    if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        os.close(fd)
        raise ServerError(f"--state-dir {path}: must be owned by uid {os.getuid()} and writable by no one else")
    return fd


def _holder(path: Path) -> str:
    """Who answers on the socket, as the kernel knows it; a service that is just starting has none yet."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock, suppress(OSError):
        sock.settimeout(1)
        sock.connect(str(socket_path(path)))
        pid, _, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        return f"another probelet (pid {pid})"
    return "another probelet"
