"""Handlers on real sockets: what each answer means for the published state."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import grpc  # type: ignore[import-untyped]
from probelet.kube.kinds import EVENTS

from tests.support.web import Reply, Request, Server
from tests.unit.agent.enhanced.asking import ask, entry, handler, is_state, state
from tests.unit.agent.made_pod import made_pod
from tests.unit.agent.scripted_agent import AgentNode

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"
"""``grpc.health.v1.HealthCheckResponse`` on the wire."""

ONCE: dict[str, Any] = {"periodSeconds": 600, "timeoutSeconds": 1, "failureThreshold": 1}
"""A probe that decides by its first run: its timeout is the machine's second, and not the agent's."""


@contextmanager
def health_server(answers: dict[bytes, bytes]) -> Iterator[int]:
    """Runs grpcio's health service, which answers by the bytes of the request, and yields its port."""

    def check(request: bytes, context: grpc.ServicerContext) -> bytes:
        return answers[request]

    server = grpc.server(ThreadPoolExecutor(1))
    handlers = {"Check": grpc.unary_unary_rpc_method_handler(check)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()


def answer(request: Request) -> Reply | None:
    """The answer that the path asks for."""
    word = request.path.strip("/")
    if word == "there":
        return 302, {"Location": "/200"}, ""
    if word == "elsewhere":
        return 302, {"Location": "http://192.0.2.1/200"}, ""
    if word == "header":
        # Go's client takes ten megabytes.
        return 200, {"X-Long": "x" * 11_000_000}, ""
    return int(word), {}, HTTPStatus(int(word)).phrase if int(word) in (200, 400, 500) else ""


async def test_t14_http_answers(node: AgentNode) -> None:
    healthy, unhealthy = ("200", "there", "elsewhere", "399"), ("400", "500", "header")
    pod = made_pod()
    node.run(pod)
    with Server(answer) as server:
        probes = [
            handler(word, httpGet={"port": server.port, "path": f"/{word}"}, **ONCE) for word in (*healthy, *unhealthy)
        ]
        ask(node, entry(pod, *probes))
        for word in healthy:
            await node.until(lambda word=word: is_state(node, "Succeeded", word))
        for word in unhealthy:
            await node.until(lambda word=word: is_state(node, "Failed", word))
        assert all("192.0.2.1" not in request.text for request in server.requests), "no other host is asked"
    assert state(node, "500")["message"] == "HTTP probe failed with statuscode: 500"


async def test_a_redirect_to_another_host_is_a_success_with_an_event_once_a_minute(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    with Server(answer) as server:
        asked = {"port": server.port, "path": "/elsewhere"}
        ask(node, entry(pod, handler("elsewhere", httpGet=asked, periodSeconds=1, timeoutSeconds=1)))
        await node.until(lambda: node.events("ProbeWarning"))
        await node.until(lambda: len(server.requests) > 3)
    assert is_state(node, "Succeeded", "elsewhere")
    (message,) = node.events("ProbeWarning")
    assert message.startswith("Liveness probe warning: Probe terminated redirects, Response body: ")
    (event,) = (event for event in node.api.all(EVENTS) if event["reason"] == "ProbeWarning")
    assert event.get("count", 1) == 1


async def test_t14_a_server_that_hangs_fails_after_the_timeout(node: AgentNode) -> None:
    import socket

    pod = made_pod()
    node.run(pod)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ask(node, entry(pod, handler("hang", httpGet={"port": silent.getsockname()[1]}, **ONCE)))
        await node.until(lambda: is_state(node, "Failed", "hang"))
    assert "Client.Timeout exceeded" in state(node, "hang")["message"]


async def test_t13_grpc_serving_not_serving_unimplemented_and_no_listener(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    with health_server({b"": SERVING, b"\x0a\x01b": NOT_SERVING}) as port, Server(lambda _: (200, {}, "")) as http:
        ask(
            node,
            entry(
                pod,
                handler("serving", grpc={"port": port}, **ONCE),
                handler("not", grpc={"port": port, "service": "b"}, **ONCE),
                handler("http", grpc={"port": http.port}, **ONCE),
                handler("nobody", grpc={"port": 1}, **ONCE),
            ),
        )
        await node.until(lambda: is_state(node, "Succeeded", "serving"))
        for name in ("not", "http", "nobody"):
            await node.until(lambda name=name: is_state(node, "Failed", name))
    assert state(node, "not")["message"] == 'service unhealthy (responded with "NOT_SERVING")'


async def test_t13_a_server_without_the_health_service_fails(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        ask(node, entry(pod, handler("none", grpc={"port": port}, **ONCE)))
        await node.until(lambda: is_state(node, "Failed", "none"))
    finally:
        server.stop(None).wait()
    assert "does not implement" in state(node, "none")["message"]
