"""The targets of recordings with sockets, as traces/README.md describes them: an HTTP server on 127.0.0.1:18980,
nothing on 18981, a gRPC health server on 18982.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

from probelet_conformance.handlers.case.case import Listener
from probelet_conformance.handlers.server.server import Server

ADDRESS: Final = "127.0.0.1"
HTTP_PORT: Final = 18980
"""The recordings fix the port: it is part of their error texts."""
GRPC_PORT: Final = 18982

BIG_BODY: Final = b"x" * 40_000

REDIRECTS: Final = {
    "/redirect-local": "/code/200",
    "/redirect-local-500": "/code/500",
    "/redirect-loop": "/redirect-loop",
}

# What Go's server says to a TLS handshake.
BAD_REQUEST: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request"


@contextmanager
def targets() -> Iterator[None]:
    """Serves while the block runs.

    Raises:
        OSError: another program has one of the ports.
    """
    http = {"kind": "function", "answer": _answer}
    health = {"kind": "go-grpc-health", "services": {"": "SERVING", "down": "NOT_SERVING"}}
    listeners = (
        Listener("HTTP", ADDRESS, "builtin", None, None, (), http, HTTP_PORT),
        Listener("GRPC", ADDRESS, "builtin", None, None, (), health, GRPC_PORT),
    )
    with Server(listeners):
        yield


def _answer(request: bytes) -> bytes:
    """The answer of the recorder's Go server."""
    if not request.startswith(b"GET "):
        return BAD_REQUEST
    first, *lines = request.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
    _, path, protocol = first.split(" ")
    if path.startswith("/code/"):
        code = int(path.removeprefix("/code/"))
        return _reply(code, b"" if code in (204, 304) else b"body for %d" % code)
    if path in REDIRECTS:
        return _reply(302, f'<a href="{REDIRECTS[path]}">Found</a>.\n\n'.encode(), REDIRECTS[path])
    if path == "/redirect-nonlocal":
        return _reply(302, b"go elsewhere", f"http://localhost:{HTTP_PORT}/code/200")
    if path == "/big":
        return _reply(200, BIG_BODY)
    if path == "/headers":
        return _reply(302, _seen(path, protocol, lines), f"http://localhost:{HTTP_PORT}/")
    return _reply(404, b"404 page not found\n")


def _seen(path: str, protocol: str, lines: list[str]) -> bytes:
    """The request as the recorder's server wrote it down: the host apart, the other headers by name."""
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers.setdefault(name.title(), []).append(value.strip())
    [host] = headers.pop("Host")
    between = '" "'
    quoted = (f' {name}=["{between.join(values)}"]' for name, values in sorted(headers.items()))
    return f"host={host} proto={protocol} uri={path}{''.join(quoted)}".encode("latin-1")


def _reply(code: int, body: bytes, location: str | None = None) -> bytes:
    where = "" if location is None else f"Location: {location}\r\n"
    first = f"HTTP/1.1 {code} {HTTPStatus(code).phrase}\r\n"
    return f"{first}{where}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
