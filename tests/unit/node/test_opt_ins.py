"""Opt-ins of a whole service: the wording of events, and restarts of old containers."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, make_service
from tests.unit.node.scripted_runtime import ScriptedRuntime

MS = 1_000_000
EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 2}

StartNode = Callable[..., Any]


@pytest.fixture
async def start_node(runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[StartNode]:
    """Starts a node with opt-ins; the node closes at the end of the test."""
    async with AsyncExitStack() as stack:

        async def start(**opted: Any) -> ScriptedNode:
            client = await runtime.serve(tmp_path)
            stack.push_async_callback(runtime.stop)
            stack.push_async_callback(client.aclose)
            service = make_service(client, gate, tmp_path / "logs", **opted)
            stack.push_async_callback(service.close)
            await service.start()
            return ScriptedNode(service, runtime, client)

        yield start


@pytest.mark.parametrize(
    ("opted", "expected"),
    [
        ({}, ["Liveness probe failed: not: yet"]),
        ({"event_wording": "counted"}, ["Liveness probe failed (2 of 2): not: yet"]),
    ],
)
async def test_the_configuration_chooses_the_wording_of_failures(
    start_node: StartNode, runtime: ScriptedRuntime, opted: dict[str, Any], expected: list[str]
) -> None:
    heard: list[str] = []
    node = await start_node(**opted)
    node.service.host.recorder.listeners.append(
        lambda _, event: heard.append(event["message"]) if event["reason"] == "Unhealthy" else None
    )
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not: yet")
    node.service.pods.set([make_manifest(containers=[{"name": "app", "image": "i", "livenessProbe": EXEC}])])
    await node.until(lambda: node.messages("Killing"))
    assert node.messages("Unhealthy") == expected, "one event that happened twice, with either wording"
    assert heard == (
        ["Liveness probe failed: not: yet"] * 2
        if not opted
        else ["Liveness probe failed (1 of 2): not: yet", "Liveness probe failed (2 of 2): not: yet"]
    )


async def test_old_containers_are_restarted_one_pod_of_a_group_at_a_time(
    start_node: StartNode, runtime: ScriptedRuntime
) -> None:
    node = await start_node(max_age_ns=400 * MS)
    names = ("a", "b", "c")
    fewest = len(names)

    def running() -> int:
        return sum(c.state == api_pb2.CONTAINER_RUNNING for c in runtime.containers.values())

    node.service.pods.set([make_manifest(name) for name in names])
    await node.until(lambda: running() == len(names))

    def all_restarted() -> bool:
        nonlocal fewest
        fewest = min(fewest, running())
        return all(node.container(name)["restart_count"] >= 1 for name in names)

    await node.until(all_restarted)
    assert fewest >= len(names) - 1
    message = node.messages("Killing")[0]
    assert message.startswith("Container app has run for ")
    assert message.endswith(" (maxContainerAge 400ms), will be restarted")
    assert node.messages("BackOff") == []
    assert b'probelet_container_kills_total{reason="max_age",grace_source="pod"}' in node.service.view.metrics()
    assert all(call.timeout == 30 for call in runtime.called("stop_container"))


async def test_only_pods_with_restart_policy_always_are_restarted_for_their_age(
    start_node: StartNode, runtime: ScriptedRuntime
) -> None:
    node = await start_node(max_age_ns=200 * MS)
    node.service.pods.set([make_manifest("job", restartPolicy="OnFailure"), make_manifest("web")])
    await node.until(lambda: node.pod("web").get("ready"))
    await node.until(lambda: node.container("web")["restart_count"] >= 2)
    assert node.container("job")["restart_count"] == 0
