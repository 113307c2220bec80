"""HTTP/2 without TLS (KEP-5999) and gRPC over TLS (KEP-4939), against servers on real sockets."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import hpack
import msgspec
import pytest
from probelet._rust import attempt
from probelet_conformance.handlers.server.frames import HEADERS, PREFACE, split

from tests.handlers.alpha import alpha_servers

HTTP2_LOOKS_LIKE_HTTP1 = (
    "http2: failed reading the frame payload: http2: frame too large, "
    "note that the frame header looked like an HTTP/1.1 header"
)


def ask(seconds: int = 5, **handler: Any) -> dict[str, Any]:
    probe = msgspec.json.encode({**handler, "timeoutSeconds": seconds})
    seen: dict[str, Any] = msgspec.json.decode(attempt(probe, "127.0.0.1", [], "kube-probe/1.37"))
    return seen


def get(port: int, seconds: int = 5, protocol: str = "HTTP2") -> dict[str, Any]:
    return ask(seconds, httpGet={"port": port, "path": "/a?b", "scheme": "HTTP", "protocol": protocol})


def check(port: int, seconds: int = 5, mode: str = "TLS", service: str = "") -> dict[str, Any]:
    return ask(seconds, grpc={"port": port, "service": service, "mode": mode})


Late = tuple[int, dict[str, Any]]
"""The port of the probe, and the report of the attempt."""


@pytest.fixture(scope="module")
def late() -> Iterator[Callable[[str], Late]]:
    """Runs the attempts that use up their timeout of a second side by side, so that they cost one second together."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor())
        attempts: dict[str, tuple[int, Future[dict[str, Any]]]] = {}

        def begin(name: str, port: int, ask: Callable[..., dict[str, Any]], **how: Any) -> None:
            attempts[name] = port, pool.submit(ask, port, seconds=1, **how)

        begin("http2 answer", stack.enter_context(alpha_servers.h2c(delay_ms=60_000))[0], get)
        begin("plaintext to tls", stack.enter_context(alpha_servers.tls_health()), check, mode="Plaintext")
        begin("tls to plaintext", stack.enter_context(alpha_servers.h2c())[0], check)
        begin("tls to nobody", stack.enter_context(alpha_servers.nobody()), check)

        def ended(name: str) -> Late:
            port, attempt = attempts[name]
            return port, attempt.result()

        yield ended


def test_an_http2_probe_speaks_http2_from_the_first_byte_without_tls() -> None:
    with alpha_servers.h2c() as (port, ends):
        seen = get(port)
    assert (seen["outcome"], seen["output"]) == ("success", "said")
    assert bytes(ends[0].received).startswith(PREFACE)
    frames, _ = split(bytes(ends[0].received))
    [head] = [frame for frame in frames if frame.kind == HEADERS]
    # h2 sends neither padding nor a priority, so the payload is the header block.
    assert dict(hpack.Decoder().decode(head.payload)) == {
        ":method": "GET",
        ":scheme": "http",
        ":authority": f"127.0.0.1:{port}",
        ":path": "/a?b",
        "accept": "*/*",
        "user-agent": "kube-probe/1.37",
    }


@pytest.mark.parametrize("status", [200, 302, 404, 500])
def test_a_status_over_http2_has_the_same_outcome_as_over_http1(status: int) -> None:
    with alpha_servers.h2c(status) as (port, _):
        seen = get(port)
    expected = {200: "success", 302: "warning"}.get(status, "failure")
    assert seen["outcome"] == expected
    if expected == "failure":
        assert seen["output"] == f"HTTP probe failed with statuscode: {status}"


def test_an_http2_probe_of_a_server_that_knows_only_http1_fails() -> None:
    with alpha_servers.http1() as port:
        seen = get(port)
    assert (seen["outcome"], seen["cause"]) == ("failure", "http2")
    assert seen["output"] == f'Get "http://127.0.0.1:{port}/a?b": {HTTP2_LOOKS_LIKE_HTTP1}'


def test_an_http2_probe_with_a_late_answer_fails(late: Callable[[str], Late]) -> None:
    _, seen = late("http2 answer")
    assert (seen["outcome"], seen["cause"]) == ("failure", "header_timeout")


def test_an_http2_probe_of_a_port_on_which_nobody_listens_fails() -> None:
    with alpha_servers.nobody() as port:
        seen = get(port)
    assert (seen["outcome"], seen["cause"]) == ("failure", "refused")


@pytest.mark.parametrize("cert", ["rsa2048", "ecdsa", "expired", "wrongname"])
def test_a_health_check_over_tls_verifies_no_certificate(cert: str) -> None:
    with alpha_servers.tls_health(cert) as port:
        seen = check(port)
    assert (seen["outcome"], seen["output"]) == ("success", "service healthy")
    assert seen["phases_ms"].keys() >= {"connect", "tls", "headers"}


def test_a_service_that_is_not_serving_over_tls_fails() -> None:
    with alpha_servers.tls_health() as port:
        seen = check(port, service="down")
    assert (seen["outcome"], seen["cause"]) == ("failure", "grpc_status")
    assert seen["output"] == 'service unhealthy (responded with "NOT_SERVING")'


def test_a_plaintext_probe_of_a_tls_server_never_connects(late: Callable[[str], Late]) -> None:
    port, seen = late("plaintext to tls")
    assert seen["output"] == NOT_CONNECTED % port


def test_a_tls_probe_of_a_plaintext_server_never_connects(late: Callable[[str], Late]) -> None:
    port, seen = late("tls to plaintext")
    assert seen["output"] == NOT_CONNECTED % port


def test_a_tls_probe_of_a_port_on_which_nobody_listens_never_connects(late: Callable[[str], Late]) -> None:
    port, seen = late("tls to nobody")
    assert seen["output"] == NOT_CONNECTED % port


NOT_CONNECTED = 'timeout: failed to connect service "127.0.0.1:%d" within 1s: context deadline exceeded'
