"""A pod whose probes another pod answers, on a runtime whose pods share the machine's network."""

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.listening.report import FOREIGN_LISTENERS, PROBED_PORTS, ForeignListener, encode

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

IP = "127.0.0.1"
"""The scripted runtime's address of every pod."""

OTHER = ForeignListener("0.0.0.0:80", "default/other", "app", 12, "python3")
PROGRAM = ForeignListener("0.0.0.0:80", pid=12, program="a\x1b[31m")


class SharedMachine(ScriptedRuntime):
    """``found`` is what the runtime sees, ``looks`` how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, ForeignListener] = {}
        self.is_broken = False
        self.looks = 0

    async def status(self, request: api_pb2.StatusRequest) -> api_pb2.StatusResponse:
        assert request.verbose
        self.looks += 1
        if self.is_broken:
            raise errors.DeadlineExceeded("too many sockets")
        return api_pb2.StatusResponse(info={FOREIGN_LISTENERS: encode(self.found)})


@pytest.fixture
def runtime() -> SharedMachine:
    return SharedMachine()


@pytest.fixture
async def node(runtime: SharedMachine, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    async with served_node(runtime, gate, tmp_path, on_host=True) as node:
        yield node


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server that takes connections; nothing tells whose it is."""
    with socket.create_server((IP, 0), backlog=1024) as server:
        yield int(server.getsockname()[1])


def web(port: int) -> Any:
    probe = {"tcpSocket": {"port": port}, "periodSeconds": 1, "failureThreshold": 1}
    app = {"name": "app", "image": "i", "command": ["app"], "readinessProbe": probe}
    return make_manifest(containers=[app])


def last(node: ScriptedNode) -> dict[str, Any]:
    return dict((node.container().get("probes", {}).get("readiness") or {}).get("last") or {})


async def test_an_answer_of_another_pod_counts_as_a_refused_connection(
    node: ScriptedNode, runtime: SharedMachine, port: int
) -> None:
    runtime.found = {f"{IP}:{port}": OTHER}
    node.service.pods.set([web(port)])
    await node.until(lambda: last(node))
    container = next(iter(runtime.containers.values()))
    assert container.annotations[PROBED_PORTS] == str(port)
    owner = "container app of pod default/other listens on 0.0.0.0:80"
    text = f"dial tcp {IP}:{port}: connect: connection refused ({owner})"
    assert (last(node)["outcome"], last(node)["cause"], last(node)["message"]) == ("failure", "refused", text)
    assert not node.pod()["ready"]
    assert node.pod()["foreign_listeners"] == [
        {"port": port, "listener": "0.0.0.0:80", "pod": "default/other", "container": "app", "pid": 12}
        | {"program": "python3"}
    ]
    await node.until(lambda: node.container()["probes"]["readiness"]["failures"] >= 3)
    (event,) = node.messages("PortConflict")
    assert event.startswith(f"{owner}, and answers at {IP}:{port}")

    runtime.found = {}
    await node.until(lambda: node.pod()["ready"])
    assert node.pod()["foreign_listeners"] == []


async def test_a_pod_that_answers_by_itself_is_looked_at_once_and_then_every_ten_seconds(
    node: ScriptedNode, runtime: SharedMachine, port: int
) -> None:
    node.service.pods.set([web(port)])
    await node.until(lambda: node.pod().get("ready"))
    looks, runs = runtime.looks, node.container()["probes"]["readiness"]["runs"]
    await node.until(lambda: node.container()["probes"]["readiness"]["runs"] >= runs + 5)
    assert runtime.looks == looks == 1
    # The pod's own server ends, and its neighbour's answers from then on.
    runtime.found = {f"{IP}:{port}": PROGRAM}
    await node.until(lambda: not node.pod()["ready"])
    assert "a program outside of the pods, a\\x1b[31m, process 12, listens on 0.0.0.0:80" in last(node)["message"]


async def test_an_answer_of_which_nobody_knows_the_sender_is_the_probers_error(
    node: ScriptedNode, runtime: SharedMachine, port: int
) -> None:
    runtime.is_broken = True
    node.service.pods.set([web(port)])
    await node.until(lambda: last(node))
    assert (last(node)["outcome"], last(node)["cause"]) == ("error", "cri")
    text = (
        f"which program answers at {IP}:{port} is unknown: rpc error: code = DeadlineExceeded desc = too many sockets"
    )
    assert last(node)["message"] == text
    assert not node.pod()["ready"]
    runtime.is_broken = False
    await node.until(lambda: node.pod()["ready"])


async def test_a_pod_that_is_gone_leaves_no_doubt(node: ScriptedNode, runtime: SharedMachine, port: int) -> None:
    runtime.found = {f"{IP}:{port}": OTHER}
    node.service.pods.set([web(port)])
    await node.until(lambda: node.pod().get("foreign_listeners"))
    node.service.pods.set([])
    await node.until(lambda: not node.service.pods.by_uid)
    # A look that is under way arrives before this call.
    await node.round_trip()
    looks = runtime.looks
    for _ in range(1_100):
        await node.round_trip()
    assert runtime.looks == looks
