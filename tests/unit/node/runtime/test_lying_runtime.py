"""A runtime that lies about one pod ends nothing, disturbs no other pod, and gets no work without a pause."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet._rust import Engine
from probelet.node.runtime.pleg import RELISTS_BURST
from probelet.node.service import Service
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.start.pace import BURST

from tests.unit.node.lying_runtime import ESCAPES, LIAR, LIES, LyingRuntime
from tests.unit.node.scripted_node import ScriptedNode, make_manifest

SECOND_NS = 1_000_000_000
SECONDS = 12
STEPS = 20
"""Round trips in each second, in which the node may act."""

EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}
PROBED = [{"name": "app", "image": "i", "livenessProbe": EXEC, "readinessProbe": EXEC}]


@pytest.fixture
def runtime() -> LyingRuntime:
    return LyingRuntime()


@pytest.fixture
async def node(runtime: LyingRuntime, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    client = await runtime.serve(tmp_path)
    service = Service(
        client, Engine(start_jitter=False), RestartGate(GateOptions()), node="node-a", log_root=tmp_path / "logs"
    )
    await service.start()
    yield ScriptedNode(service, runtime, client)
    await service.close()
    await client.aclose()
    await runtime.stop()


def runs(node: ScriptedNode) -> int:
    probes = node.container("web")["probes"]
    return min(probes[probe_type]["runs"] for probe_type in ("liveness", "readiness")) if probes else 0


def calls_about_liar(runtime: LyingRuntime, rpc: str) -> int:
    found = runtime.called(rpc)
    if rpc == "run_pod_sandbox":
        return sum(request.config.metadata.uid == LIAR for request in found)
    return sum(request.sandbox_config.metadata.uid == LIAR for request in found)


@pytest.mark.parametrize("name", LIES)
async def test_a_lie_about_one_pod_disturbs_no_other(name: str, node: ScriptedNode, runtime: LyingRuntime) -> None:
    alive = asyncio.ensure_future(node.service.run())
    node.service.pods.set([make_manifest("web", containers=PROBED)])
    await node.until(lambda: node.pod("web").get("ready") and runs(node))
    before, began = node.container("web")["container_id"], node.service.engine.now()

    runtime.lie = LIES[name]
    node.service.pods.set([make_manifest("web", containers=PROBED), make_manifest("liar", containers=PROBED)])
    for _ in range(SECONDS):
        probed = runs(node)
        for _ in range(STEPS):
            await node.round_trip(SECOND_NS // STEPS)
        await node.until(lambda seen=probed: alive.done() or runs(node) > seen)
        assert not alive.done(), alive.exception()

    row = node.container("web")
    assert (row["container_id"], row["restart_count"], row["ready"]) == (before, 0, True)
    assert {probe["result"] for probe in row["probes"].values()} == {"Success"}
    assert row["probes"]["liveness"]["failures"] == row["probes"]["liveness"]["errors"] == 0
    stopped = [request.container_id for request in runtime.called("stop_container")]
    assert before.partition("://")[2] not in stopped
    seconds = (node.service.engine.now() - began) // SECOND_NS + 1
    for rpc in ("create_container", "run_pod_sandbox"):
        assert calls_about_liar(runtime, rpc) <= BURST + seconds, rpc
    assert len(runtime.called("list_containers")) <= RELISTS_BURST + seconds
    view = node.service.view
    for page in (view.status(), view.events(0)):
        assert json.dumps(page)
    assert all((view.metrics(), view.metrics_pods(), view.metrics_probes()))
    assert view.ready() == (True, "")
    alive.cancel()


async def test_a_pod_that_was_lied_about_is_ended(node: ScriptedNode, runtime: LyingRuntime) -> None:
    runtime.lie = LIES["a status of other bytes"]
    node.service.pods.set([make_manifest("liar", containers=PROBED)])
    await node.until(lambda: runtime.called("start_container"))
    runtime.lie = lambda _, __, ___, answer: answer
    node.service.pods.set([])
    await node.until(lambda: not node.service.view.status()["pods"])
    assert runtime.sandboxes == {}


@pytest.mark.parametrize("state", ["SANDBOX_READY", "SANDBOX_NOTREADY"])
async def test_a_foreign_sandbox_with_a_label_that_is_not_utf8_does_not_stop_the_start(
    state: str, runtime: LyingRuntime, tmp_path: Path
) -> None:
    runtime.lie = LIES["cruel tenants"]
    client = await runtime.serve(tmp_path)
    service = Service(
        client, Engine(start_jitter=False), RestartGate(GateOptions()), node="node-a", log_root=tmp_path / "logs"
    )
    await service.start()
    await service.remove_orphans()
    await service.close()
    await client.aclose()
    await runtime.stop()
    assert ESCAPES not in str(runtime.called("stop_pod_sandbox"))
