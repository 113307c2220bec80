"""The state directory: it belongs to one service, and clients find the service by its control socket.

The lock is on the directory itself, not on a file in it: a killed service leaves no lock file behind, and the
kernel releases the lock with the process.
"""

import fcntl
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from probelet.server.control.unix_path import check_unix_path
from probelet.server.error import ServerError

SOCKET_NAME = "control.sock"


def default_state_dir() -> Path:
    """``$XDG_RUNTIME_DIR/probelet``, or ``/tmp/probelet-UID`` if ``$XDG_RUNTIME_DIR`` is not a directory."""
    runtime_dir = os.environ.get("XDG_RUNTIME_DIR")
    if runtime_dir and Path(runtime_dir).is_dir():
        return Path(runtime_dir) / "probelet"
    return Path(f"/tmp/probelet-{os.getuid()}")


def socket_path(state_dir: Path) -> Path:
    """The path of a state directory's control socket."""
    return state_dir / SOCKET_NAME


@contextmanager
def locked_state_dir(path: Path) -> Iterator[Path]:
    """Makes the directory (0700) if it is missing, and holds its lock until the context ends.

    The end removes the socket, and the directory too if this call made it and it is empty. Raises ServerError, one
    line, if another service holds the lock, another user owns the directory, the directory cannot be made, or the
    socket's name is taken by something else.
    """
    check_unix_path(socket_path(path.absolute()), f"--state-dir {path}: {SOCKET_NAME}")
    fd, made = _lock(path)
    try:
        # We hold the lock, so the service that left this socket is gone.
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
        # The previous service may have removed the directory between our open and our lock.
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
        raise ServerError(f"--state-dir {path}: cannot create it: {error.strerror}") from error
    return True


def _open(path: Path) -> int:
    """Opens a directory that only we can write to: another user could plant a socket for our clients."""
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
    """Names the process behind the socket, from the kernel; a service that is starting has no socket yet."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock, suppress(OSError):
        sock.settimeout(1)
        sock.connect(str(socket_path(path)))
        pid, _, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        return f"another probelet (pid {pid})"
    return "another probelet"
