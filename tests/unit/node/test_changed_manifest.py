"""A manifest with a UID of its own that changes: the pod goes on, and only another image restarts a container."""

from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime


def probing(command: str) -> dict[str, Any]:
    probe = {"exec": {"command": [command]}, "periodSeconds": 1}
    return {"name": "app", "image": "i", "readinessProbe": probe}


async def test_another_image_restarts_the_container_in_its_sandbox(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    runtime.images.add("j:latest")
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.container().get("ready"))
    first = node.container()["container_id"]
    node.service.pods.set([make_manifest(digest="e", containers=[{"name": "app", "image": "j"}])])
    await node.until(lambda: node.container()["restart_count"] == 1 and node.container()["ready"])
    assert node.messages("Killing") == ["Container app definition changed, will be restarted"]
    assert node.container()["container_id"] != first
    assert len(runtime.called("run_pod_sandbox")) == 1
    paths = [request.config.log_path for request in runtime.called("create_container")]
    assert paths == ["app/0.log", "app/1.log"], "two instances never share a log"


async def test_another_probe_restarts_nothing_and_the_old_probe_goes_on(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    """The kubelet's AddPod keeps a worker that exists, and the worker its probe (prober_manager.go, 1.36)."""
    node.service.pods.set([make_manifest(containers=[probing("old")])])
    await node.until(lambda: node.container().get("ready"))
    runtime.calls.clear()
    with capture_logs() as lines:
        node.service.pods.set([make_manifest(digest="e", containers=[probing("new")])])
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == [
        "pod changed; under its own UID only another image restarts a container, so nothing restarts"
    ]
    await node.until(lambda: len(runtime.called("exec_sync")) >= 3)
    assert {tuple(request.cmd) for request in runtime.called("exec_sync")} == {("old",)}
    assert node.container()["restart_count"] == 0


async def test_another_environment_holds_from_the_next_start_on(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    def manifest(digest: str, value: str) -> Any:
        env = [{"name": "A", "value": value}]
        return make_manifest(digest=digest, containers=[{"name": "app", "image": "i", "env": env}])

    node.service.pods.set([manifest("d", "1")])
    await node.until(lambda: node.container().get("ready"))
    node.service.pods.set([manifest("e", "2")])
    await node.round_trip()
    assert runtime.called("stop_container") == []
    runtime.exit(next(iter(runtime.containers)), 1)
    await node.until(lambda: len(runtime.called("create_container")) == 2)
    values = [request.config.envs[0].value for request in runtime.called("create_container")]
    assert values == [b"1", b"2"]


async def test_a_new_container_with_a_probe_starts_and_is_probed(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.container().get("ready"))
    both = [{"name": "app", "image": "i"}, {**probing("new"), "name": "second"}]
    node.service.pods.set([make_manifest(digest="e", containers=both)])
    await node.until(lambda: runtime.called("exec_sync"))
    await node.until(lambda: node.pod()["ready"])
    assert [found["name"] for found in node.pod()["containers"]] == ["app", "second"]
