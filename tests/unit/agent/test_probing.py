"""A taken-over pod from its creation to its kill, with everything real except the runtime and the API server."""

from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not well")


async def test_a_taken_over_pod_is_probed_and_its_gate_opens(node: AgentNode) -> None:
    node.run(made_pod({"app": {"readinessProbe": EXEC}}))
    await node.until(node.is_ready)
    condition = node.condition()
    assert condition["status"] == "True"
    assert "reason" not in condition
    assert node.runtime.called("exec_sync")[0].cmd == ["probe"]


async def test_a_failed_readiness_probe_closes_the_gate_with_the_kubelets_words(node: AgentNode) -> None:
    node.run(made_pod({"app": {"readinessProbe": EXEC}}))
    await node.until(node.is_ready)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: not node.is_ready())
    condition = node.condition()
    assert (condition["reason"], condition["message"]) == (
        "ContainersNotReady",
        "containers with unready status: [app]",
    )
    await node.until(lambda: node.events("Unhealthy"))
    assert node.events("Unhealthy") == ["Readiness probe failed: not well"]


async def test_a_failed_liveness_probe_stops_that_container_and_no_other(node: AgentNode) -> None:
    containers = [{"name": "app", "image": "i"}, {"name": "other", "image": "i"}]
    pod = made_pod({"app": {"livenessProbe": {**EXEC, "terminationGracePeriodSeconds": 7}}}, containers=containers)
    node.runtime.exec_answers["probe",] = FAILS
    app, _other = node.run(pod)
    await node.until(node.stopped)
    ((stopped, grace),) = node.stopped()
    assert stopped == app
    assert grace <= 7, "the probe's, not the pod's"
    await node.until(lambda: node.events("Killing"))
    assert node.events("Killing") == ["Container app failed liveness probe, will be restarted"]
    node.runtime.exec_answers.clear()
    node.restart(pod)
    await node.for_seconds(5)
    assert node.stopped() == [(app, grace)], "one failure, one kill"
