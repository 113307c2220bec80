"""``--listen``: parses the address of the pages and opens its listening socket."""

import errno
import ipaddress
import os
import socket
from contextlib import ExitStack
from pathlib import Path

import msgspec

from probelet.base.files.unix_socket import SocketPathError, bound_socket
from probelet.server.error import ServerError
from probelet.server.limit import BACKLOG

_FORM = "want HOST:PORT, for example 127.0.0.1:10290 or [::1]:0, or unix:PATH"
_UNIX = "unix:"


class Address(msgspec.Struct, frozen=True):
    """A host name or address and a TCP port from 0 to 65535; for 0 the system picks a free port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def url(self, path: str) -> str:
        """Where a reader finds a page."""
        return f"http://{self}{path}"


class UnixAddress(msgspec.Struct, frozen=True):
    """A unix socket that only this user and root may open."""

    path: Path

    def __str__(self) -> str:
        return f"{_UNIX}{self.path}"

    def url(self, path: str) -> str:
        """Where a reader finds a page: there is no URL of a unix socket, so the path of the page follows a blank."""
        return f"{self} {path}"


class Listening(msgspec.Struct, frozen=True):
    """A listening socket. ``address`` has the port that it got; ``is_remote``: other machines may reach it."""

    sock: socket.socket
    address: Address | UnixAddress
    is_remote: bool
    _cleanup: ExitStack

    def close(self) -> None:
        """Closes the socket and removes its path, if it has one. A second call does nothing."""
        self.sock.close()
        self._cleanup.close()


def parse_address(text: str, *, flag: str = "--listen") -> Address | UnixAddress:
    """Parses ``HOST:PORT``, ``[IPv6]:PORT`` or ``unix:PATH``. The host is required, so that nobody binds every address
    by accident. ``flag`` is where the text comes from.

    Raises ServerError with one line.
    """
    if text.startswith(_UNIX):
        path = text.removeprefix(_UNIX)
        if not path or "\0" in path:
            raise ServerError(f"{flag} {text!r}: {_FORM}")
        return UnixAddress(Path(path).absolute())
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not (colon and host):
        raise ServerError(f"{flag} {text!r}: {_FORM}")
    if not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ServerError(f"{flag} {text!r}: port {port!r} is not a number from 0 to 65535; {_FORM}")
    return Address(host, int(port))


def listening_socket(
    address: Address | UnixAddress,
    *,
    allow_remote: bool = False,
    flag: str = "--listen",
    otherwise: str = "add --allow-remote",
) -> Listening:
    """Binds and listens. ``otherwise`` is what the error about an address for other machines advises.

    Raises ServerError, one line, if the host is unknown, the port or path is taken, or other machines could reach the
    address without ``allow_remote``.
    """
    cleanup = ExitStack()
    if isinstance(address, UnixAddress):
        sock = _unix_socket(address, cleanup, flag)
        is_remote = False
    else:
        sock, is_remote = _tcp_socket(address, flag, otherwise, allow_remote=allow_remote)
        address = Address(address.host, sock.getsockname()[1])
    sock.setblocking(False)
    return Listening(sock, address, is_remote, cleanup)


def _unix_socket(address: UnixAddress, cleanup: ExitStack, flag: str) -> socket.socket:
    try:
        sock = cleanup.enter_context(bound_socket(address.path))
        sock.listen(BACKLOG)
    except SocketPathError as error:
        raise ServerError(f"{flag} {_UNIX}{error}") from error
    except OSError as error:
        raise ServerError(f"{flag} {address}: {error.strerror}") from error
    return sock


def _tcp_socket(address: Address, flag: str, otherwise: str, *, allow_remote: bool) -> tuple[socket.socket, bool]:
    """The socket, and whether other machines may reach it."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ServerError(f"{flag} {address}: no such host: {error.strerror}") from error
    family, kind, protocol, _, target = found[0]
    is_remote = not ipaddress.ip_address(str(target[0]).partition("%")[0]).is_loopback
    if is_remote and not allow_remote:
        raise ServerError(
            f"{flag} {address}: other machines could read the pages, which show commands and output of probes; "
            f"choose a loopback address or unix:PATH, or {otherwise}"
        )
    sock = socket.socket(family, kind, protocol)
    try:
        # Lets us bind a port that the previous service left in TIME_WAIT.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(target)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise ServerError(f"{flag} {address}: {_why(error)}") from error
    return sock, is_remote


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken; choose another, or 0 for any free port"
    if error.errno == errno.EACCES:
        return "permission denied; ports below 1024 need the right to bind them"
    return os.strerror(error.errno) if error.errno else str(error)
