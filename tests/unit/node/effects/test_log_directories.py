"""The log directories that the service deletes: a pod's own, and nothing that other names lead to."""

from pathlib import Path
from typing import Any

import pytest
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.mkdir()
    (path / "kept").touch()
    return path


def sandbox(runtime: ScriptedRuntime, *, named: dict[str, str] | None = None, **metadata: Any) -> None:
    """A sandbox with our node's label that another client of the runtime made."""
    meta = api_pb2.PodSandboxMetadata(**{"namespace": "default", "name": "old", "uid": "uid-old", **metadata})
    identity = {labels.POD_NAMESPACE: meta.namespace, labels.POD_NAME: meta.name, labels.POD_UID: meta.uid}
    runtime.sandboxes["foreign"] = api_pb2.PodSandboxStatus(
        id="foreign", metadata=meta, labels={**identity, **(named or {}), labels.NODE: "node-a"}
    )


async def until_gone(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    # Only those of the orphans: a task of a living pod may end meanwhile.
    before = set(node.service.host.tasks._running)
    await node.service.remove_orphans()
    begun = node.service.host.tasks._running - before
    await node.until(lambda: "foreign" not in runtime.sandboxes and all(task.done() for task in begun))


async def test_the_logs_of_a_pod_without_a_manifest_go_with_it(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    (tmp_path / "logs" / "default_old_uid-old" / "app").mkdir(parents=True)
    sandbox(runtime)
    await until_gone(node, runtime)
    assert list((tmp_path / "logs").iterdir()) == []


@pytest.mark.parametrize("part", ["uid", "name", "namespace"])
@pytest.mark.parametrize("text", ["x/../../victim", "../victim", "/etc", "..", "a\n"])
async def test_a_foreign_sandbox_leads_to_no_other_directory(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path, victim: Path, part: str, text: str
) -> None:
    for name in ("default_old_x", "default_x", "x"):
        (tmp_path / "logs" / name).mkdir(parents=True)
    sandbox(runtime, **{part: text})
    await until_gone(node, runtime)
    assert [path.name for path in victim.iterdir()] == ["kept"]


async def test_a_foreign_sandbox_that_bears_a_living_pods_name_leaves_that_pods_logs(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    node.service.pods.set([make_manifest("web")])
    await node.until(lambda: node.pod("web").get("ready"))
    sandbox(runtime, name="web", uid="uid-web", named={labels.POD_UID: "uid-unknown"})
    await until_gone(node, runtime)
    assert (tmp_path / "logs" / "default_web_uid-web").exists()


async def test_a_log_directory_that_is_a_link_leads_nowhere(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path, victim: Path
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "default_old_uid-old").symlink_to(victim)
    sandbox(runtime)
    await until_gone(node, runtime)
    assert [path.name for path in victim.iterdir()] == ["kept"]


async def test_a_log_name_with_too_many_digits_is_no_restart_count(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    logs = tmp_path / "logs" / "default_web_uid-web" / "app"
    logs.mkdir(parents=True)
    for name in ("1.log", f"{'9' * 200}.log", "99999999999.log", "\u0663.log", "-5.log"):
        (logs / name).touch()
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.container()["state"] == "running")
    assert node.container()["restart_count"] == 2
