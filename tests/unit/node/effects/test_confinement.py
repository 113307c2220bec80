"""A service confines its containers by the node's configuration, the image's user and the runtime's features."""

from pathlib import Path
from typing import Any

import pytest
from probelet.config.kubelet import set_kubelet_defaults
from probelet.config.load import load_config
from probelet.node.effects.effects import NO_STRICT_GROUPS
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

NON_ROOT: dict[str, Any] = {"securityContext": {"runAsNonRoot": True}}
STRICT: dict[str, Any] = {"securityContext": {"supplementalGroupsPolicy": "Strict"}}


def context_of(runtime: ScriptedRuntime) -> api_pb2.LinuxContainerSecurityContext:
    (request,) = runtime.called("create_container")
    found: api_pb2.LinuxContainerSecurityContext = request.config.linux.security_context
    return found


async def test_a_container_runs_as_the_user_of_its_image(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    runtime.image_user = {"uid": api_pb2.Int64Value(value=1000)}
    node.service.pods.set([make_manifest(**NON_ROOT)])
    await node.until(lambda: runtime.called("start_container"))
    assert context_of(runtime).run_as_user.value == 1000
    # The question names the very image of which the container is made.
    assert runtime.called("image_status")[-1].image.image == "sha256:i:latest"


@pytest.mark.parametrize(
    ("image_user", "message"),
    [
        ({}, "container has runAsNonRoot and image will run as root"),
        (
            {"username": "app"},
            "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root",
        ),
    ],
)
async def test_a_container_that_may_be_root_is_not_created(
    node: ScriptedNode, runtime: ScriptedRuntime, image_user: dict[str, Any], message: str
) -> None:
    runtime.image_user = image_user
    node.service.pods.set([make_manifest(**NON_ROOT)])
    await node.until(lambda: node.messages("Failed"))
    text = f'{message} (pod: "web_default(uid-web)", container: app)'
    assert node.messages("Failed") == [f"Error: {text}"]
    await node.until(lambda: node.container()["reason"])
    assert (node.container()["reason"], node.container()["message"]) == ("CreateContainerConfigError", text)
    assert runtime.called("create_container") == []


async def test_an_image_whose_user_cannot_be_read_makes_no_container(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    refused = {"image_status": errors.RuntimeRefused("the disk is gone")}
    # The first question finds the image, the second one is about its user.
    runtime.after_image_status = lambda: runtime.refuse.update(refused)
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.messages("Failed"))
    assert node.messages("Failed") == ["Error: the disk is gone"]
    await node.until(lambda: node.container()["reason"])
    assert node.container()["reason"] == "CreateContainerConfigError"
    assert runtime.called("create_container") == []


async def test_strict_groups_wait_for_a_runtime_that_has_them(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(**STRICT)])
    await node.until(lambda: node.messages("FailedCreatePodSandBox"))
    assert node.messages("FailedCreatePodSandBox") == [f"Failed to create pod sandbox: {NO_STRICT_GROUPS}"]
    assert runtime.called("run_pod_sandbox") == []
    runtime.features = api_pb2.RuntimeFeatures(supplemental_groups_policy=True)
    node.service.pods.set([])
    node.service.pods.set([make_manifest("other", **STRICT)])
    await node.until(lambda: runtime.called("start_container"))
    assert context_of(runtime).supplemental_groups_policy == api_pb2.Strict


async def test_an_ordinary_pod_asks_for_no_features(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest()])
    await node.until(lambda: runtime.called("start_container"))
    assert runtime.called("status") == []
    assert context_of(runtime).seccomp.profile_type == api_pb2.SecurityProfile.Unconfined
    assert len(context_of(runtime).masked_paths) >= 12


async def test_the_configuration_can_confine_every_container(
    runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path
) -> None:
    async with served_node(runtime, gate, tmp_path, seccomp_default=True) as node:
        node.service.pods.set([make_manifest()])
        await node.until(lambda: runtime.called("start_container"))
        assert context_of(runtime).seccomp.profile_type == api_pb2.SecurityProfile.RuntimeDefault


@pytest.mark.parametrize(("line", "expected"), [("", False), ("seccompDefault: true", True)])
def test_the_kubelets_configuration_sets_the_default_profile(tmp_path: Path, line: str, expected: bool) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{line}\n")
    assert set_kubelet_defaults(load_config(path).kubelet).seccomp_default is expected
