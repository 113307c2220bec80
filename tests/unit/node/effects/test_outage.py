"""The runtime's socket is gone for a minute on the node's clock: the first row of docs/operating.md in detail."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from probelet.policy.node.restart_gate import RETRY_NS, RestartGate
from probelet.runtime.seen.pleg import EVENTED_RELIST_PERIOD_NS

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, observed_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

SECOND_NS = 1_000_000_000
MINUTE = 60
TRIES = 3
"""The tries of an exec run that only gets errors (prober.go:maxProbeRetries, 1.36)."""

SERVING = b"\x08\x01"
OFTEN = {"periodSeconds": 1, "timeoutSeconds": 3600, "failureThreshold": 1}
"""No attempt that is under way when the clocks are put forward fails for that."""

EXEC = {"exec": {"command": ["probe"]}, **OFTEN}
HELD = {"name": "held", "image": "i", "livenessProbe": EXEC, "readinessProbe": EXEC}


@pytest.fixture
async def node(runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    async with observed_node(runtime, gate, tmp_path) as node:
        yield node


@pytest.fixture
async def web() -> AsyncIterator[asyncio.Server]:
    """A server that answers HTTP probes and accepts TCP probes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            if await reader.read(4096):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server


@pytest.fixture
async def health() -> AsyncIterator[int]:
    """A server that answers gRPC probes; yields its port."""

    async def check(request: bytes, context: Any) -> bytes:
        return SERVING

    server = grpc.aio.server()
    handlers = {"Check": grpc.unary_unary_rpc_method_handler(check)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield port
    await server.stop(None)


def port_of(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


def asked(web: asyncio.Server, health: int) -> list[dict[str, Any]]:
    """Containers with HTTP, TCP and gRPC probes, and one with exec probes."""
    http, tcp = {"httpGet": {"port": port_of(web)}, **OFTEN}, {"tcpSocket": {"port": port_of(web)}, **OFTEN}
    front = {"name": "front", "image": "i", "livenessProbe": http, "readinessProbe": tcp}
    back = {"name": "back", "image": "i", "livenessProbe": {"grpc": {"port": health}, **OFTEN}}
    return [front, back, HELD]


def counted(node: ScriptedNode, kind: str) -> dict[tuple[str, str], int]:
    """The count ``kind`` (``runs`` or ``errors``) of every probe, by container and type."""
    rows = {container["name"]: container["probes"] for container in node.pod()["containers"]}
    return {(name, probe): known[kind] for name, probes in rows.items() for probe, known in probes.items()}


def series(node: ScriptedNode, name: str) -> int:
    rows = (line.rpartition(" ") for line in node.service.view.metrics().decode().splitlines())
    return next((int(value) for known, _, value in rows if known == name), 0)


async def second(node: ScriptedNode) -> None:
    """Puts the node's clocks a second forward, and waits until every probe has run."""
    before = counted(node, "runs")
    await node.round_trip(SECOND_NS)
    while not all(runs > before[probe] for probe, runs in counted(node, "runs").items()):
        await node.round_trip(0)


def seen(node: ScriptedNode) -> list[tuple[str, str, bool, int]]:
    return [(c["container_id"], c["state"], c["ready"], c["restart_count"]) for c in node.pod()["containers"]]


def restarts(node: ScriptedNode) -> list[int]:
    return [container["restart_count"] for container in node.pod()["containers"]]


async def test_a_minute_without_the_runtime_counts_against_no_container(
    node: ScriptedNode, runtime: ScriptedRuntime, web: asyncio.Server, health: int, tmp_path: Path
) -> None:
    node.service.pods.set([make_manifest(containers=asked(web, health))])
    await node.until(lambda: node.pod().get("ready") and len(counted(node, "runs")) == 5)
    await node.until(lambda: all(counted(node, "runs").values()))
    before, runs, errors = seen(node), counted(node, "runs"), counted(node, "errors")
    refused = 'probelet_runtime_calls_total{operation="exec_sync",code="Unavailable"}'
    assert series(node, refused) == 0

    await runtime.stop()
    runtime.calls.clear()
    for _ in range(MINUTE):
        await second(node)
        assert seen(node) == before
    assert not node.service.view.ready()[0]
    assert series(node, "probelet_runtime_up") == 0
    for probe, known in counted(node, "errors").items():
        over_a_socket = probe[0] != "held"
        assert counted(node, "runs")[probe] - runs[probe] >= MINUTE
        assert known == 0 if over_a_socket else known - errors[probe] >= MINUTE - 1, probe
    assert series(node, refused) >= 2 * TRIES * (MINUTE - 1)
    unknown = re.compile(r"(\w+) probe errored and resulted in unknown state: rpc error: code = Unavailable desc = .+")
    message = [unknown.fullmatch(text) for text in node.messages("Unhealthy")]
    assert {found and found[1] for found in message} == {"Liveness", "Readiness"}

    await (await runtime.serve(tmp_path)).aclose()
    await node.until(lambda: node.service.view.ready()[0] and runtime.is_followed)
    lists = len(runtime.called("list_containers"))
    late, back = counted(node, "errors"), node.service.host.engine.now()
    for _ in range(5):
        await second(node)
    # One run of each probe may have been under way when the runtime came back.
    assert all(known - late[probe] <= 1 for probe, known in counted(node, "errors").items())
    assert seen(node) == before
    assert series(node, "probelet_runtime_up") == 1
    names = [rpc for rpc, _ in runtime.calls if rpc != "exec_sync"]
    # Before the event stream is back there is a list each second. One may follow its return, and none in these seconds.
    periods = (node.service.host.engine.now() - back) // EVENTED_RELIST_PERIOD_NS
    assert names.count("list_containers") - lists <= 1 + periods
    assert set(names) == {"list_pod_sandbox", "list_containers"}, "the node asks for no status of unchanged containers"
    assert node.messages("Killing") == []


async def test_changes_during_an_outage_are_carried_out_once_when_the_runtime_is_back(
    node: ScriptedNode, runtime: ScriptedRuntime, web: asyncio.Server, tmp_path: Path
) -> None:
    """The pods change meanwhile: a container fails its liveness probe, another one exits, and a new pod comes."""
    tcp = {"tcpSocket": {"port": port_of(web)}, **OFTEN}
    containers = [{"name": "failing", "image": "i", "livenessProbe": tcp}, {"name": "ending", "image": "i"}]
    old = make_manifest(containers=containers)
    node.service.pods.set([old])
    await node.until(lambda: node.pod().get("ready") and len(counted(node, "runs")) == 1)
    failing, ending = (node.container(index=index)["container_id"].partition("://")[2] for index in (0, 1))

    await runtime.stop()
    runtime.calls.clear()
    web.close()
    runtime.exit(ending, 3, say=False)
    node.service.pods.set([old, make_manifest("new")])
    kills = 'probelet_runtime_calls_total{operation="stop_container",code="Unavailable"}'
    # The prober fails the probe on a thread of its own, which may be later than the first round trips.
    await node.until(lambda: series(node, kills))
    first = node.service.host.engine.now()
    while series(node, kills) < 4:
        await node.round_trip(SECOND_NS)
    assert node.service.host.engine.now() - first >= 2 * RETRY_NS, "at most one call in ten seconds"
    assert restarts(node) == [0, 0]

    await (await runtime.serve(tmp_path)).aclose()
    await node.until(lambda: node.pod("new").get("ready"))
    await node.until(lambda: all(restarts(node)))
    stopped = [request.container_id for request in runtime.called("stop_container")]
    assert (stopped.count(failing), stopped.count(ending)) == (1, 0)
    assert len(runtime.called("run_pod_sandbox")) == 1
