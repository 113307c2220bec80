"""The helper that Python and the engine share: who carries out which attempt, and what the limits count."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from probelet._rust import Engine, ExecEnd, ExecRun
from probelet.daemon.execs import share_helper
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.fallback import Reason
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs

from tests.support.patience import PATIENCE_SECONDS
from tests.unit.node.scripted_runtime import ScriptedRuntime
from tests.unit.runtime.execs.direct.example import changed
from tests.unit.runtime.execs.direct.scripted_helper import ScriptedHelper
from tests.unit.runtime.execs.rig import Answers, run

PERIOD_NS = 60_000_000_000
"""So long that no period ends by itself, however slow the machine is."""


class Runtime(ScriptedRuntime):
    """Describes every container as this test's own process."""

    async def container_status(self, request: api_pb2.ContainerStatusRequest) -> api_pb2.ContainerStatusResponse:
        info = changed("pid", os.getpid()) | {"sandboxID": "/"}
        metadata = api_pb2.ContainerMetadata(name="app")
        status = api_pb2.ContainerStatus(id=request.container_id, metadata=metadata, created_at=1)
        return api_pb2.ContainerStatusResponse(status=status, info={"info": json.dumps(info)})

    async def pod_sandbox_status(self, request: api_pb2.PodSandboxStatusRequest) -> api_pb2.PodSandboxStatusResponse:
        metadata = api_pb2.PodSandboxMetadata(name="pod", namespace="default", uid="u")
        status = api_pb2.PodSandboxStatus(id=request.pod_sandbox_id, metadata=metadata, created_at=1)
        return api_pb2.PodSandboxStatusResponse(status=status, info={"info": json.dumps({"pid": os.getpid()})})


class Node:
    """An engine, a helper and what lies between them."""

    def __init__(self, client: RuntimeClient, helper: ScriptedHelper) -> None:
        self.client, self.helper = client, helper
        self.direct = DirectExecs(client, helper.program)
        self.engine = Engine(seed=1, start_jitter=False)
        self.runs: list[ExecRun] = []
        self.said: list[Any] = []
        asyncio.get_running_loop().add_reader(self.engine.fileno(), self.read)

    def read(self) -> None:
        """Reads a batch."""
        batch = self.engine.drain()
        self.direct.take(batch.entered)
        self.runs += batch.execs
        self.said += [*batch.updates, *batch.syncs, *batch.events, *batch.notices]

    async def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.engine.fileno())
        await self.direct.close()
        self.engine.close()
        await self.client.aclose()

    async def until(self, what: str, is_true: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_true():
            assert time.monotonic() < end, f"{what} in time"
            # A process tells when it is done by its answer, and what is waited for may be the engine's.
            await asyncio.sleep(0)

    def probe(self, *command: str) -> None:
        """A pod whose container is probed by a command every minute."""
        probe = {"exec": {"command": list(command)}, "periodSeconds": 60, "timeoutSeconds": 60, "failureThreshold": 1}
        container = {"name": "app", "livenessProbe": probe}
        pod = {"metadata": {"name": "pod", "namespace": "default", "uid": "u"}, "spec": {"containers": [container]}}
        self.engine.add_pod(json.dumps(pod).encode())
        begun = {"started_at_ms": 0}
        status = {"name": "app", "id": "containerd://" + "0" * 64, "started": True, "state": "running"} | begun
        document = {"phase": "Running", "pod_ip": "127.0.0.1", "containers": [status]}
        self.engine.set_pod_status("u", json.dumps(document).encode())

    async def execs(self) -> list[ExecRun]:
        """The next exec attempts that come in a batch."""
        await self.until("a batch", lambda: self.runs)
        found, self.runs = self.runs, []
        return found

    async def carried_out(self, count: int) -> None:
        await self.until("attempts of the engine", lambda: self.engine.direct_counts() == (count, 0))


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    runtime, helper = Runtime(), ScriptedHelper(tmp_path)
    node = Node(await runtime.serve(tmp_path), helper)
    await node.direct.start()
    yield node
    await node.close()
    await runtime.stop()
    helper.close()


async def test_python_carries_out_the_first_attempt_of_a_container_and_the_engine_the_others(node: Node) -> None:
    node.direct.share(node.engine)
    execs = RuntimeExecs(node.client, node.engine, direct=node.direct)
    node.probe("true")
    execs.start(await node.execs())
    await node.until("the first answer", lambda: node.direct.counts.attempts == 1)
    await node.until("its result", lambda: node.said)
    node.said.clear()
    for count in range(1, 4):
        node.engine.advance(PERIOD_NS)
        await node.carried_out(count)
        node.read()
        assert node.runs == node.said == []
    lines = list(execs.counts.series())
    assert "probelet_exec_direct_attempts_total 4" in lines
    assert "probelet_execs_in_flight 0" in lines
    await execs.close()


async def test_a_container_whose_attempt_was_refused_is_described_anew(node: Node) -> None:
    node.direct.share(node.engine)
    node.probe("refuse")
    (first,) = await node.execs()
    assert first.refusal is None
    assert await node.direct.attempt(first) is None
    # The helper's answer to Python took the description away; a new one lets the engine try.
    node.engine.describe_container(first.container_id, b"description")
    node.engine.finish_execs([ExecEnd.exit(first.run, 0, b"")])
    node.engine.advance(PERIOD_NS)
    (second,) = await node.execs()
    assert second.refusal == (6, 0, 0)
    assert await node.direct.attempt(second) is None
    assert node.direct.counts.fallbacks == {Reason.ROOT: 2}
    node.engine.finish_execs([ExecEnd.exit(second.run, 0, b"")])
    node.engine.advance(PERIOD_NS)
    (third,) = await node.execs()
    assert third.refusal is None


async def test_a_helper_that_is_replaced_is_the_engines_too(node: Node) -> None:
    node.direct.share(node.engine)
    node.probe("true")
    (first,) = await node.execs()
    assert await node.direct.attempt(first) is not None
    node.helper.end()
    await node.until("another helper", lambda: node.direct.counts.starts == 2)
    node.engine.finish_execs([ExecEnd.exit(first.run, 0, b"")])
    node.engine.advance(PERIOD_NS)
    (second,) = await node.execs()
    assert await node.direct.attempt(second) is not None
    node.engine.finish_execs([ExecEnd.exit(second.run, 0, b"")])
    node.engine.advance(PERIOD_NS)
    await node.carried_out(1)


async def test_a_command_that_cannot_be_ended_keeps_its_turn(node: Node) -> None:
    answers = Answers()
    share_helper(node.direct, node.engine, limits := ExecLimits(max_in_flight=1))
    execs = RuntimeExecs(node.client, answers, limits, node.direct)
    hang, other = run(1, "0" * 64), run(2, "0" * 64)
    hang.argv = ["hang"]
    execs.start([hang])
    assert await answers.count(1) == [(1, "timeout")]
    execs.start([other])
    await node.until("a wait", lambda: execs.counts.waiting == 1)
    assert execs.counts.in_flight == 0
    node.helper.end_what_hangs()
    assert await answers.count(2) == [(1, "timeout"), (2, "exit")]
    await execs.close()


async def test_the_turns_of_a_lost_helpers_commands_are_free(node: Node) -> None:
    answers = Answers()
    share_helper(node.direct, node.engine, limits := ExecLimits(max_in_flight=1))
    execs = RuntimeExecs(node.client, answers, limits, node.direct)
    hang, other = run(1, "0" * 64), run(2, "0" * 64)
    hang.argv = ["hang"]
    execs.start([hang])
    await answers.count(1)
    execs.start([other])
    await node.until("a wait", lambda: execs.counts.waiting == 1)
    node.helper.end()
    await node.until("a turn", lambda: execs.counts.waiting == 0)
    await execs.close()


@pytest.mark.parametrize(
    ("limits", "shares"),
    [
        (ExecLimits(), True),
        (ExecLimits(client_deadline=1.0), True),
        (ExecLimits(max_in_flight=5), False),
        (ExecLimits(single_flight=True), False),
    ],
)
async def test_limits_that_the_engine_does_not_know_keep_every_attempt_in_python(
    node: Node, limits: ExecLimits, shares: bool
) -> None:
    share_helper(node.direct, node.engine, limits)
    execs = RuntimeExecs(node.client, node.engine, limits, node.direct)
    node.probe("true")
    execs.start(await node.execs())
    await node.until("the first answer", lambda: node.said)
    node.engine.advance(PERIOD_NS)
    if shares:
        await node.carried_out(1)
    else:
        (second,) = await node.execs()
        assert second.refusal is None
        execs.start([second])
        await node.until("the second answer", lambda: execs.counts.direct.attempts == 2)
        assert node.engine.direct_counts() == (0, 0)
    await execs.close()


def test_a_helper_needs_descriptors_that_are_open() -> None:
    engine = Engine(seed=1)
    with pytest.raises(ValueError, match="socket"):
        engine.use_helper(-1, 0)
    with pytest.raises(OSError, match="Bad file descriptor"):
        engine.use_helper(1 << 20, 0)
    engine.close()
