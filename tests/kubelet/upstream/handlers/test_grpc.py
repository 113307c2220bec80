"""kubelet pkg/probe/grpc/grpc_test.go, 1.36: rows G1 to G5, and what 1.38 does differently (V6)."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest

from tests.kubelet.upstream.ask import ask, closed_port
from tests.kubelet.upstream.releases.test_versions import VERSIONS
from tests.kubelet.upstream.row import row
from tests.support.web import Server

pytestmark = pytest.mark.e2e

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"
"""``grpc.health.v1.HealthCheckResponse`` on the wire."""


@contextmanager
def health_server(answer: bytes, hold: threading.Event | None = None) -> Iterator[int]:
    """Runs grpcio's health service and yields its port. With ``hold`` it answers once the event is set."""

    def check(request: bytes, context: grpc.ServicerContext) -> bytes:
        if hold is not None:
            hold.wait(4)
        return answer

    server = grpc.server(ThreadPoolExecutor(1))
    handlers = {"Check": grpc.unary_unary_rpc_method_handler(check)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        if hold is not None:
            hold.set()
        server.stop(None).wait()


def health(port: int, seconds: int = 1, **more: Any) -> dict[str, Any]:
    return ask({"grpc": {"port": port, "service": ""}, "timeoutSeconds": seconds}, **more)


@row("G1")
def test_a_grpc_probe_of_a_port_on_which_nobody_listens_fails(row: str) -> None:
    report = health(32, pod_ip="")
    assert (report["result"], report["error"]) == ("failure", None)
    assert report["output"] == 'timeout: failed to connect service ":32" within 1s: context deadline exceeded'


@row("G2")
def test_a_grpc_probe_of_a_plain_http_server_fails(row: str) -> None:
    with Server(lambda request: (200, {}, "")) as server:
        report = health(server.port)
    assert (report["result"], report["error"]) == ("failure", None)


@row("G3")
def test_a_service_that_is_not_serving_fails(row: str) -> None:
    with health_server(NOT_SERVING) as port:
        report = health(port)
    assert (report["result"], report["output"]) == ("failure", 'service unhealthy (responded with "NOT_SERVING")')


@row("G4")
def test_a_grpc_answer_after_the_timeout_fails(row: str) -> None:
    with health_server(SERVING, threading.Event()) as port:
        report = health(port, seconds=2)
    assert (report["result"], report["output"]) == ("failure", "timeout: health rpc did not complete within 2s")


@row("G5")
def test_a_service_that_is_serving_succeeds(row: str) -> None:
    with health_server(SERVING) as port:
        report = health(port)
    assert (report["result"], report["output"]) == ("success", "service healthy")


TimedAnswer = tuple[int, float, dict[str, Any]]


@pytest.fixture(scope="module")
def told_by_version() -> Iterator[dict[tuple[str, str], TimedAnswer]]:
    """Probes a closed port and a silent server as each release does, all side by side; returns the answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(2 * len(VERSIONS)) as pool:
        ports = {"refused": closed_port(), "silent": listener.getsockname()[1]}

        def report(port: int, version: str) -> TimedAnswer:
            begun = time.monotonic()
            found = health(port, kubelet_version=version)
            return port, time.monotonic() - begun, found

        cases = [(version, what) for version in VERSIONS for what in ports]
        ends = [pool.submit(report, ports[what], version) for version, what in cases]
        yield {case: end.result() for case, end in zip(cases, ends, strict=True)}


@pytest.mark.parametrize("version", [pytest.param(each, id=f"V6-{each}-refused") for each in VERSIONS])
def test_a_refused_grpc_connection_fails_at_once_from_1_38_on(
    version: str, told_by_version: dict[tuple[str, str], TimedAnswer]
) -> None:
    """kubernetes PR 142457."""
    port, took, report = told_by_version[version, "refused"]
    assert report["result"] == "failure"
    if version == "1.38":
        why = f"transport: Error while dialing: dial tcp 127.0.0.1:{port}: connect: connection refused"
        status = f'rpc error: code = Unavailable desc = connection error: desc = "{why}"'
        assert (report["output"], report["cause"]) == (f"error: health rpc probe failed: {status}", "refused")
        assert took < 0.9
    else:
        text = f'timeout: failed to connect service "127.0.0.1:{port}" within 1s: context deadline exceeded'
        assert report["output"] == text
        assert took >= 1


@pytest.mark.parametrize("version", [pytest.param(each, id=f"V6-{each}-silent") for each in VERSIONS])
def test_a_silent_grpc_server_gets_the_error_text_of_its_release(
    version: str, told_by_version: dict[tuple[str, str], TimedAnswer]
) -> None:
    port, _, report = told_by_version[version, "silent"]
    late = "timeout: health rpc did not complete within 1s"
    unconnected = f'timeout: failed to connect service "127.0.0.1:{port}" within 1s: context deadline exceeded'
    assert (report["result"], report["output"]) == ("failure", late if version == "1.38" else unconnected)
