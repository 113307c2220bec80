"""Unix sockets: a listener that only this user can connect to, and the user at the other end of a connection."""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from probelet.errors import ProbeletError

PATH_BYTES_MAX: Final = 107
"""`sun_path` of a unix socket address holds 108 bytes and ends in a zero (man 7 unix)."""

_NOT_A_SOCKET: Final = "exists and is not a socket, so it stays as it is; choose a path that is free or a socket's"


class SocketPathError(ProbeletError):
    """No socket can be bound at a path. The message is one line that begins with the path or with the caller's name."""


class Peer(NamedTuple):
    """The process at the other end of a unix socket, from the kernel."""

    pid: int
    uid: int
    gid: int


def peer_of(sock: socket.socket) -> Peer:
    """The process that connected, or for a client the process that listens."""
    layout = "3i"
    return Peer(*struct.unpack(layout, sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(layout))))


def trusted_uids() -> frozenset[int]:
    """The users whose processes this one may believe: itself and root, which can do anything to it anyway."""
    return frozenset({0, os.getuid()})


def check_length(path: Path, named: str | None = None) -> None:
    """Raises SocketPathError if ``path`` is too long for a socket."""
    if len(os.fsencode(path)) > PATH_BYTES_MAX:
        raise SocketPathError(f"{named or path}: too long, the socket's path may have {PATH_BYTES_MAX} bytes")


def check_socket_path(path: Path, named: str | None = None) -> None:
    """Raises SocketPathError if no socket can be bound at ``path``: it is too long, or what is there must stay."""
    check_length(path, named)
    _require_free(path, named or str(path))


def bind_socket(path: Path) -> socket.socket:
    """A socket bound at ``path`` with mode 0600, in the place of a socket that a dead process of this user left there.

    Raises SocketPathError, and OSError if the system refuses the bind. ``path`` may lead through a descriptor,
    as ``/proc/self/fd/N/name``.
    """
    check_length(path)
    remove_abandoned_socket(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # With this umask no other user can connect, not even for the moment between bind and a chmod.
    umask = os.umask(0o177)
    try:
        sock.bind(str(path))
    except OSError:
        sock.close()
        raise
    finally:
        os.umask(umask)
    return sock


@contextmanager
def bound_socket(path: Path) -> Iterator[socket.socket]:
    """``bind_socket`` for a block; its end closes the socket, and removes the path if it still is this socket."""
    sock = bind_socket(path)
    mine = os.lstat(path)
    try:
        yield sock
    finally:
        sock.close()
        # Another service may have put its own socket there since.
        with suppress(OSError):
            if os.path.samestat(os.lstat(path), mine):
                path.unlink()


def remove_abandoned_socket(path: Path, named: str | None = None) -> None:
    """Removes a socket that a dead process of this user left at ``path``. Raises SocketPathError for anything else."""
    if _require_free(path, named or str(path)):
        path.unlink(missing_ok=True)


def _require_free(path: Path, named: str) -> bool:
    """Whether an abandoned socket of this user is at ``path``. Raises SocketPathError if anything else is there."""
    try:
        # lstat: through a link the socket of another program could be taken for ours.
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise SocketPathError(f"{named}: {error.strerror}") from error
    if not stat.S_ISSOCK(found.st_mode):
        raise SocketPathError(f"{named}: {_NOT_A_SOCKET}")
    if found.st_uid != os.getuid():
        raise SocketPathError(f"{named}: is a socket of uid {found.st_uid}, so it stays as it is; choose another path")
    if _answers(path):
        raise SocketPathError(f"{named}: a process listens on this socket; stop it or choose another path")
    return True


def _answers(path: Path) -> bool:
    """False if no process listens on the socket any more."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        # A listener whose queue is full would block the connect.
        sock.setblocking(False)
        try:
            sock.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True
