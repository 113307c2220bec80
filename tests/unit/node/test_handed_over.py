"""Pods of manifests and pods of another node agent share an engine: neither agent sees or changes the other's pods."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from probelet.runtime.cri.v1 import api_pb2
from probelet.service.handed_over_pods import HandedOverPods
from probelet.service.server import served

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime
from tests.unit.service.caller import Caller, ExecResponder, exec_probe, make_pod, named, running, until_result

OURS = [{"name": "app", "image": "i", "readinessProbe": exec_probe(exec={"command": ["ours"]})}]


@pytest.fixture
async def agent(node: ScriptedNode, tmp_path: Path) -> AsyncIterator[Caller]:
    """Another node agent, connected to the node's own prober."""
    own = node.service.pods
    pods = HandedOverPods(node.service.host.engine, claimed=own.has, claimant=own.claimant, released=own.released)
    node.service.share(pods)
    async with served(tmp_path / "prober.sock", pods):
        agent = Caller(tmp_path / "prober.sock")
        yield agent
        await agent.channel.close()


async def both(node: ScriptedNode, agent: Caller) -> ExecResponder:
    """Starts a pod of the manifest and a pod of the agent, and waits until both are ready."""
    node.service.pods.set([make_manifest(containers=OURS)])
    responder = ExecResponder(agent, code=0)
    await agent.sync(make_pod("theirs", readinessProbe=exec_probe()), running("test://theirs"))
    await node.result(until_result(agent.watch_results(), ("readiness", "test://theirs", "SUCCESS")))
    await node.until(lambda: node.pod().get("ready"))
    return responder


async def test_each_agent_has_its_own_results_and_execs(
    node: ScriptedNode, agent: Caller, runtime: ScriptedRuntime
) -> None:
    responder = await both(node, agent)
    assert await agent.results() == {("readiness", "test://theirs"): "SUCCESS"}
    assert {tuple(attempt.argv) for attempt in responder.asked} == {("probe",)}
    assert {tuple(call.cmd) for call in runtime.called("exec_sync")} == {("ours",)}
    assert [pod["name"] for pod in node.service.view.status().document()["pods"]] == ["web"]
    assert b"probelet_pods_handed_over 1\n" in node.service.view.metrics()
    await responder.gone()


async def test_each_agent_gets_the_events_of_its_own_pods(
    node: ScriptedNode, agent: Caller, runtime: ScriptedRuntime
) -> None:
    responder = await both(node, agent)
    events = agent.watch_events()
    await events.initial_metadata()
    runtime.exec_answers["ours",] = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"of ours")
    await node.until(lambda: node.messages("Unhealthy"))
    responder.code = 1
    assert (await node.result(events.read())).message == "Readiness probe failed: said"
    assert set(node.messages("Unhealthy")) == {"Readiness probe failed: of ours"}
    await responder.gone()


async def test_an_agent_that_cleans_up_leaves_our_pods_alone(node: ScriptedNode, agent: Caller) -> None:
    responder = await both(node, agent)
    changes = agent.watch_results()
    assert (await changes.read()).reset
    await agent.cleanup_pods()
    removed = await changes.read()
    assert named(removed.results) == {("readiness", "test://theirs"): "RESULT_UNSPECIFIED"}
    for call in (agent.remove_pod, agent.stop_liveness_and_startup, agent.remove_pod_status):
        await call("uid-web")
    before = node.container()["probes"]["readiness"]["runs"]
    await node.until(lambda: node.container()["probes"]["readiness"]["runs"] > before)
    assert node.pod()["ready"]
    await responder.gone()


async def test_a_pod_that_we_run_cannot_be_handed_over(node: ScriptedNode, agent: Caller) -> None:
    node.service.pods.set([make_manifest(containers=OURS)])
    for call in (
        agent.add_pod(make_pod("uid-web")),
        agent.set_pod_status("uid-web", running()),
        agent.update_pod_status(make_pod("uid-web"), running()),
    ):
        with pytest.raises(grpc.aio.AioRpcError, match="this probelet runs a pod with this UID itself") as refused:
            await call
        assert refused.value.code() == grpc.StatusCode.ALREADY_EXISTS
    await node.until(lambda: node.pod().get("ready"))


async def test_a_container_that_we_run_cannot_be_handed_over_in_another_pod(node: ScriptedNode, agent: Caller) -> None:
    """Otherwise both pods would share its results, and a failed probe of one pod would kill the other's container."""
    responder = await both(node, agent)
    ours = node.container()["container_id"]
    status = running("test://theirs")
    status["initContainerStatuses"] = [{"name": "init", "containerID": ours}]
    for call in (agent.set_pod_status("theirs", status), agent.update_pod_status(make_pod("theirs"), status)):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
        assert refused.value.code() == grpc.StatusCode.ALREADY_EXISTS
        assert refused.value.details() == (
            f'status.initContainerStatuses[0].containerID: "{ours}": this probelet runs this container itself, '
            "in pod default/web"
        )
    assert await agent.results() == {("readiness", "test://theirs"): "SUCCESS"}
    node.service.pods.set([])
    await node.until(lambda: not node.service.view.status().document()["pods"])
    await agent.set_pod_status("theirs", status)
    await responder.gone()


async def test_a_manifest_with_the_uid_of_a_pod_handed_over_waits_for_its_end(
    node: ScriptedNode, agent: Caller
) -> None:
    probed: dict[str, Any] = make_pod("shared", readinessProbe=exec_probe())
    await agent.sync(probed, running("test://theirs"))
    node.service.pods.set([make_manifest(uid="shared", containers=OURS)])
    assert node.service.view.status().document()["pods"] == []
    await agent.sync(probed, running("test://theirs"))
    await agent.remove_pod("shared")
    assert node.service.view.status().document()["pods"] == []
    await agent.remove_pod_status("shared")
    await node.until(lambda: node.pod().get("ready"))
