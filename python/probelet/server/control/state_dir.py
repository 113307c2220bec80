"""The state directory: it belongs to one service, and clients find the service by its control socket.

The lock is on the directory itself, not on a file in it: a killed service leaves no lock file behind, and the
kernel releases the lock with the process. Service and client reach what is in it through a descriptor of the directory,
so that a rename of a directory above leads neither elsewhere.
"""

import fcntl
import os
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from probelet.base.files.trusted_directory import UntrustedError, open_trusted
from probelet.base.files.unix_socket import SocketPathError, check_length, peer_of, remove_abandoned_socket
from probelet.server.error import ServerError

SOCKET_NAME = "control.sock"

UNIT_STATE_DIR = Path("/var/lib/probelet")
"""The state directory of the systemd unit, ``deploy/systemd/probelet.service``."""


def default_state_dir() -> Path:
    """``$XDG_RUNTIME_DIR/probelet``, or ``/tmp/probelet-UID`` if ``$XDG_RUNTIME_DIR`` is not a directory of this user.

    ``sudo`` may leave another user's ``$XDG_RUNTIME_DIR`` in the environment.
    """
    runtime_dir = os.environ.get("XDG_RUNTIME_DIR")
    if runtime_dir:
        with suppress(OSError):
            path = Path(runtime_dir)
            if path.is_dir() and path.stat().st_uid == os.getuid():
                return path / "probelet"
    return Path(f"/tmp/probelet-{os.getuid()}")


def service_state_dir() -> Path:
    """Where a verb looks for the service: in the user's own directory, then in that of the systemd unit.

    Only root may enter the unit's, so other users keep their own.
    """
    own = default_state_dir()
    if not os.path.lexists(socket_path(own)) and os.path.lexists(socket_path(UNIT_STATE_DIR)):
        return UNIT_STATE_DIR
    return own


def socket_path(state_dir: Path) -> Path:
    """The path of a state directory's control socket."""
    return state_dir / SOCKET_NAME


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """A path that leads to the state directory through its descriptor. Raises UntrustedError or OSError."""
    fd, _ = open_trusted(path)
    try:
        yield _through(fd)
    finally:
        os.close(fd)


def _through(fd: int) -> Path:
    return Path(f"/proc/self/fd/{fd}")


@contextmanager
def locked_state_dir(path: Path, *, on_wait: Callable[[str], None] | None = None) -> Iterator[Path]:
    """Makes the directory (0700) if it is missing, and holds its lock until the context ends.

    If another service holds the lock, ``on_wait`` gets its name, and the call waits for that service to end; without
    ``on_wait`` it raises. A signal to end ends the wait as an interrupt.

    The end removes the socket, and the directory too if this call made it and it is empty. Raises ServerError, one
    line, if another service holds the lock, another user owns the directory or could change the way to it, the
    directory cannot be made, or the socket's name is taken by something else.
    """
    try:
        check_length(socket_path(path.absolute()), _named(path))
    except SocketPathError as error:
        raise ServerError(str(error)) from error
    fd, made = _lock(path, on_wait)
    try:
        # We hold the lock, so the service that left this socket is gone.
        _remove_socket(fd, path)
        yield path
    finally:
        with suppress(OSError, ServerError):
            _remove_socket(fd, path)
        if made:
            with suppress(OSError):
                path.rmdir()
        os.close(fd)


def _remove_socket(fd: int, path: Path) -> None:
    try:
        remove_abandoned_socket(socket_path(_through(fd)), _named(path))
    except SocketPathError as error:
        raise ServerError(str(error)) from error


def _named(path: Path) -> str:
    return f"--state-dir {path}: {SOCKET_NAME}"


def _lock(path: Path, on_wait: Callable[[str], None] | None) -> tuple[int, bool]:
    while True:
        fd, made = _open(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(fd)
            if on_wait is None:
                os.close(fd)
                raise ServerError(f"--state-dir {path}: {holder} runs here; stop it or choose another") from None
            _wait(fd, partial(on_wait, holder))
        # The previous service may have removed the directory between our open and our lock.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), path.stat()):
                return fd, made
        os.close(fd)


def _wait(fd: int, on_wait: Callable[[], None]) -> None:
    """Waits for the lock. The first process of a container has no default action for signals, and would not end."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        on_wait()
        fcntl.flock(fd, fcntl.LOCK_EX)
    except BaseException:
        os.close(fd)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _open(path: Path) -> tuple[int, bool]:
    """Opens, or makes, a directory that only we can write to: another user could plant a socket for our clients."""
    try:
        found, made = open_trusted(path, make=True)
    except UntrustedError as error:
        raise ServerError(f"--state-dir {path}: {error}") from error
    except OSError as error:
        doing = "" if os.path.lexists(path) else "cannot create it: "
        raise ServerError(f"--state-dir {path}: {doing}{error.strerror}") from error
    try:
        status = os.fstat(found)
        if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ServerError(f"--state-dir {path}: must be owned by uid {os.getuid()} and writable by no one else")
        # A lock needs a descriptor that can read.
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=found), made
    except OSError as error:
        raise ServerError(f"--state-dir {path}: {error.strerror}") from error
    finally:
        os.close(found)


def _holder(fd: int) -> str:
    """Names the process behind the socket, from the kernel; a service that is starting has no socket yet. For a process
    of another container the kernel has no number."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock, suppress(OSError):
        sock.settimeout(1)
        sock.connect(str(socket_path(_through(fd))))
        pid = peer_of(sock).pid
        return f"another probelet (pid {pid})" if pid else "another probelet (in another container, pid unknown)"
    return "another probelet"
