"""Rows X24 and X25, from the test plans of KEP-4939 and KEP-5999: the liveness result decides about a restart."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.handlers.alpha import alpha_servers
from tests.kubelet.upstream.prober.test_prober import one_run
from tests.kubelet.upstream.worker import ID
from tests.support.web import Server

pytestmark = pytest.mark.e2e

Serve = Callable[[], Any]


@contextmanager
def web() -> Iterator[int]:
    with Server(lambda request: (200, {}, "")) as server:
        yield server.port


@contextmanager
def h2c() -> Iterator[int]:
    with alpha_servers.h2c() as (port, _):
        yield port


def grpc(mode: str, service: str = "") -> Callable[[int], dict[str, Any]]:
    return lambda port: {"grpc": {"port": port, "service": service, "mode": mode}}


def http(protocol: str) -> Callable[[int], dict[str, Any]]:
    return lambda port: {"httpGet": {"port": port, "path": "/", "scheme": "HTTP", "protocol": protocol}}


@pytest.mark.parametrize(
    ("serve", "probe", "restarts"),
    [
        pytest.param(alpha_servers.tls_health, grpc("TLS"), 0, id="X24-TLS"),
        pytest.param(alpha_servers.tls_health, grpc("Plaintext"), 1, id="X24-plaintext to TLS"),
        pytest.param(alpha_servers.tls_health, grpc("TLS", "down"), 1, id="X24-not serving"),
        pytest.param(alpha_servers.nobody, grpc("TLS"), 1, id="X24-wrong port"),
        pytest.param(h2c, http("HTTP2"), 0, id="X25-h2c"),
        pytest.param(web, http("HTTP1"), 0, id="X25-HTTP/1.1"),
        pytest.param(web, http("HTTP2"), 1, id="X25-HTTP/2 to HTTP/1.1"),
        pytest.param(alpha_servers.nobody, http("HTTP2"), 1, id="X25-wrong port"),
    ],
)
def test_a_failed_alpha_probe_restarts_its_container(
    serve: Serve, probe: Callable[[int], dict[str, Any]], restarts: int
) -> None:
    with serve() as port:
        simulation = one_run(probe(port), sockets=True)
    assert simulation.runs == 1
    assert simulation.result("liveness", ID) == ("Failure" if restarts else "Success")
