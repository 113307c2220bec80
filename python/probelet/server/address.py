"""``--listen HOST:PORT``: parses it and opens its listening socket."""

import errno
import os
import socket
from dataclasses import dataclass

from probelet.server.error import ServerError

# Enough for every scraper and browser of a node at once; further connections wait in the kernel.
BACKLOG = 128

_FORM = "want HOST:PORT, for example 127.0.0.1:10290 or [::1]:0"


@dataclass(frozen=True)
class Address:
    """A host name or address and a TCP port from 0 to 65535; for 0 the system picks a free port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Parses ``HOST:PORT`` or ``[IPv6]:PORT``. The host is required, so that nobody binds every address by accident.

    Raises ServerError with one line.
    """
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not (colon and host):
        raise ServerError(f"--listen {text!r}: {_FORM}")
    if not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ServerError(f"--listen {text!r}: port {port!r} is not a number from 0 to 65535; {_FORM}")
    return Address(host, int(port))


def listening_socket(address: Address) -> tuple[socket.socket, Address]:
    """Binds and listens; returns the socket, and the address with the port it got.

    Raises ServerError, one line, if the host is unknown or the port is taken.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ServerError(f"--listen {address}: no such host: {error.strerror}") from error
    family, kind, protocol, _, target = found[0]
    sock = socket.socket(family, kind, protocol)
    try:
        # Lets us bind a port that the previous service left in TIME_WAIT.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(target)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise ServerError(f"--listen {address}: {_why(error)}") from error
    sock.setblocking(False)
    return sock, Address(address.host, sock.getsockname()[1])


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken; choose another, or 0 for any free port"
    if error.errno == errno.EACCES:
        return "permission denied; ports below 1024 need the right to bind them"
    return os.strerror(error.errno) if error.errno else str(error)
