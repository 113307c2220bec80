"""A pod that terminates, and a pod that is gone."""

from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)


def command(name: str) -> dict[str, object]:
    return {**EXEC, "exec": {"command": [name]}}


async def test_readiness_goes_on_and_liveness_and_startup_stop(node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": command("ready"), "livenessProbe": command("alive")}})
    node.run(pod)
    await node.until(node.is_ready)
    node.terminate(pod)
    await node.until(lambda: node.agent.pods.by_uid[pod["metadata"]["uid"]].terminating.is_set())
    await node.for_seconds(2)
    before = len(node.runtime.called("exec_sync"))
    await node.until(lambda: len(node.runtime.called("exec_sync")) >= before + 6)
    assert {tuple(call.cmd) for call in node.runtime.called("exec_sync")[before:]} == {("ready",)}
    node.runtime.exec_answers["ready",] = FAILS
    await node.until(lambda: not node.is_ready())


async def test_a_pod_is_forgotten_when_the_api_server_and_the_runtime_no_longer_have_it(node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}})
    node.run(pod)
    await node.until(node.is_ready)
    uid = pod["metadata"]["uid"]
    assert [path.name for path in (node.folder / "pods").iterdir()] == [f"{uid}.json"]
    node.api.remove(PODS, "web", "default")
    await node.until(lambda: node.agent.pods.by_uid[uid].terminating.is_set())
    await node.for_seconds(3)
    assert uid in node.agent.pods.by_uid, "its containers still run"
    node.kubelet.remove(pod)
    await node.until(lambda: not node.agent.pods.by_uid)
    await node.until(lambda: not list((node.folder / "pods").iterdir()))
    assert node.agent.host.engine.status(uid) is None


async def test_a_pod_that_went_while_no_agent_ran_is_forgotten(bare_node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}})
    async with bare_node.an_agent():
        bare_node.run(pod)
        await bare_node.until(bare_node.is_ready)
    bare_node.kubelet.remove(pod)
    bare_node.api.remove(PODS, "web", "default")
    async with bare_node.an_agent():
        await bare_node.until(lambda: not list((bare_node.folder / "pods").iterdir()))
        assert not bare_node.agent.pods.by_uid


async def test_the_containers_of_a_job_that_ended_are_not_probed_any_more(node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}}, restartPolicy="Never")
    (app,) = node.run(pod)
    await node.until(node.is_ready)
    node.runtime.exit(app, 0)
    node.write_status(pod, phase="Succeeded")
    await node.until(lambda: not node.is_ready())
    await node.for_seconds(1)
    before = len(node.runtime.called("exec_sync"))
    await node.for_seconds(5)
    assert len(node.runtime.called("exec_sync")) == before
    assert not node.stopped()
