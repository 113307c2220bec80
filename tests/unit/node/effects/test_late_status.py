"""A node that finds a container that has ended, and whose status the runtime gives late."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from probelet._rust import Engine
from probelet.policy.node.restart_gate import RestartGate
from structlog.testing import capture_logs

from tests.unit.node.scripted_node import ROUND_TRIP_NS, ScriptedNode, make_manifest, make_service
from tests.unit.node.scripted_runtime import ScriptedRuntime

TICK = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}


def completing(policy: str) -> Any:
    """A pod whose container ends by itself, probed meanwhile."""
    container = {"name": "app", "image": "i", "livenessProbe": TICK}
    return make_manifest("job", restartPolicy=policy, containers=[container])


async def restarted(before: ScriptedNode, folder: Path) -> ScriptedNode:
    """A second node on the runtime, as after a restart of probelet; its first list has waited for all its patience."""
    engine = Engine(start_jitter=False)
    service = make_service(before.client, RestartGate(), folder, engine=engine)
    starting = asyncio.ensure_future(service.start())
    while not starting.done():
        await before.client.version()
        engine.advance(ROUND_TRIP_NS)
    await starting
    return ScriptedNode(service, before.runtime, before.client)


@pytest.mark.parametrize(
    ("policy", "code", "phase"), [("Never", 0, "Succeeded"), ("Never", 3, "Failed"), ("OnFailure", 0, "Succeeded")]
)
async def test_a_completed_pod_is_neither_killed_nor_run_again(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path, policy: str, code: int, phase: str
) -> None:
    node.service.pods.set([completing(policy)])
    await node.until(lambda: node.container("job")["state"] == "running")
    runtime.exit(next(iter(runtime.containers)), code)
    await node.until(lambda: node.pod("job")["phase"] == phase and runtime.called("stop_pod_sandbox"))
    await node.service.close()

    runtime.calls.clear()
    runtime.held["container_status"] = asyncio.Event()
    later = await restarted(node, tmp_path)
    with capture_logs() as logs:
        later.service.pods.set([completing(policy)])
        await later.until(lambda: later.pod("job").get("containers"))
        shown = later.container("job")
        assert (shown["state"], shown["reason"], shown["exit_code"]) == ("waiting", "ContainerStatusUnknown", None)
        assert later.pod("job")["phase"] == "Pending"
        runtime.held["container_status"].set()
        await later.until(lambda: later.pod("job")["phase"] == phase)
    assert (later.container("job")["state"], later.container("job")["exit_code"]) == ("terminated", code)
    assert [event for event in later.service.view.events(0) if event["type"] != "Warning"] == []
    changing = {"stop_container", "create_container", "start_container", "run_pod_sandbox"}
    assert [rpc for rpc, _ in runtime.calls if rpc in changing] == []
    assert [line for line in logs if line["event"] == "container exited"] == [], "it ended before this node began"
    await later.service.close()


async def test_a_crashed_container_starts_again_when_its_exit_is_known(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    node.service.pods.set([completing("OnFailure")])
    await node.until(lambda: node.container("job")["state"] == "running")
    await node.service.close()
    runtime.exit(next(iter(runtime.containers)), 1)

    runtime.held["container_status"] = asyncio.Event()
    later = await restarted(node, tmp_path)
    later.service.pods.set([completing("OnFailure")])
    await later.until(lambda: later.pod("job").get("containers"))
    assert len(runtime.called("create_container")) == 1
    runtime.held["container_status"].set()
    await later.until(lambda: later.container("job")["restart_count"] == 1)
    assert later.container("job")["last_exit"]["exit_code"] == 1
    assert later.messages("Killing") == []
    await later.service.close()
