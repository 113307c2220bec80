"""Servers for the handlers of KEP-5999 and KEP-4939. They listen on every loopback address, so on every pod's too."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from probelet_conformance.handlers.case.case import Listener
from probelet_conformance.handlers.server.certificate import OURS
from probelet_conformance.handlers.server.connection import Connection
from probelet_conformance.handlers.server.server import Server

from tests.support import web

EVERYWHERE = ""
HEALTH = {"kind": "go-grpc-health", "services": {"": "SERVING", "down": "NOT_SERVING"}}


@contextmanager
def h2c(status: int = 200, delay_ms: int = 0) -> Iterator[tuple[int, list[Connection]]]:
    """Serves HTTP/2 without TLS; yields the port and the connections that were made."""
    builtin = {"kind": "go-http", "h2c": True, "status": status, "body": "said", "delay_ms": delay_ms}
    with Server((_listener("builtin", builtin),)) as server:
        yield server.ports["PORT"], server.connections["PORT"]


@contextmanager
def http1() -> Iterator[int]:
    """Serves only HTTP/1.1: a client of HTTP/2 gets the 400 of net/http. Yields the port."""
    with web.Server(lambda request: (200, {}, "said"), EVERYWHERE) as server:
        yield server.port


@contextmanager
def nobody() -> Iterator[int]:
    """Yields a port that is taken but on which nobody listens."""
    with Server((_listener("bound-not-listening"),)) as server:
        yield server.ports["PORT"]


@contextmanager
def tls_health(cert: str = "rsa2048") -> Iterator[int]:
    """A gRPC health service over TLS, its certificate self-signed: `down` is NOT_SERVING, the whole server SERVING."""
    listener = Listener("PORT", EVERYWHERE, "builtin", {"alpn": ["h2"]}, OURS / f"{cert}.pem", (), HEALTH)
    with Server((listener,)) as server:
        yield server.ports["PORT"]


def _listener(mode: str, builtin: Mapping[str, Any] | None = None) -> Listener:
    return Listener("PORT", EVERYWHERE, mode, None, None, (), builtin or {})
