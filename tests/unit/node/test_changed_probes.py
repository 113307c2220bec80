"""A manifest of which the probes alone change, of a pod that asks to go on: no container restarts."""

from typing import Any

from msgspec.structs import replace
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime


def manifest(digest: str, *, live: bool = True, **probes: Any) -> Any:
    made = make_manifest(digest=digest, containers=[{"name": "app", "image": "i", **probes}])
    return replace(made, is_live=live)


def probe(command: str, **fields: Any) -> dict[str, Any]:
    return {"exec": {"command": [command]}, "periodSeconds": 1, **fields}


def commands(runtime: ScriptedRuntime) -> set[tuple[str, ...]]:
    return {tuple(request.cmd) for request in runtime.called("exec_sync")}


async def test_the_new_probe_runs_in_the_same_container(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([manifest("d", readinessProbe=probe("old"))])
    await node.until(lambda: node.container().get("ready"))
    assert "changed_at" not in node.container()["probes"]["readiness"]
    node.service.pods.set([manifest("e", readinessProbe=probe("new", failureThreshold=7))])
    runtime.calls.clear()
    await node.until(lambda: ("new",) in commands(runtime))
    (said,) = node.messages("ProbesChanged")
    assert said == "readinessProbe of container app changed (exec, failureThreshold); what was counted stays"
    row = node.container()
    assert (row["restart_count"], row["ready"], row["probes"]["readiness"]["failure_threshold"]) == (0, True, 7)
    assert row["probes"]["readiness"]["changed_at"]
    runtime.calls.clear()
    await node.until(lambda: len(runtime.called("exec_sync")) >= 3)
    assert commands(runtime) == {("new",)}


async def test_a_pod_without_its_readiness_probe_is_ready(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    runtime.exec_answers["old",] = api_pb2.ExecSyncResponse(exit_code=1)
    node.service.pods.set([manifest("d", readinessProbe=probe("old"))])
    await node.until(lambda: node.container().get("probes", {}).get("readiness", {}).get("failures", 0) >= 1)
    assert not node.container()["ready"]
    node.service.pods.set([manifest("e")])
    await node.until(lambda: node.container()["ready"])
    assert node.container()["probes"] == {}


async def test_a_pod_that_does_not_ask_for_it_keeps_its_probes(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([manifest("d", live=False, readinessProbe=probe("old"))])
    await node.until(lambda: node.container().get("ready"))
    node.service.pods.set([manifest("e", live=False, readinessProbe=probe("new"))])
    runtime.calls.clear()
    await node.until(lambda: len(runtime.called("exec_sync")) >= 3)
    assert (commands(runtime), node.messages("ProbesChanged")) == ({("old",)}, [])
