"""An API server that misbehaves, and its effect on pods that are probed."""

import pytest
from probelet.beside.pods.api_pod import api_pod
from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.support.kube_api import Answer
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
READINESS = {"app": {"readinessProbe": EXEC}}


async def still_probes(node: AgentNode) -> None:
    before = len(node.runtime.called("exec_sync"))
    await node.until(lambda: len(node.runtime.called("exec_sync")) > before + 3)


@pytest.mark.parametrize(
    "answer", [Answer(500), Answer(429, headers={"Retry-After": "5"}), Answer(200, body=b"<html>"), Answer(403)]
)
async def test_lists_that_fail_stop_no_probe_and_the_agent_recovers(node: AgentNode, answer: Answer) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    node.api.faults.add(answer, "list", "pods", times=3)
    node.api.faults.add(answer, "watch", "pods", times=3)
    node.api.watches[0].end()
    await still_probes(node)
    node.run(made_pod(READINESS, name="second"))
    await node.until(lambda: node.is_ready("second"))


async def test_garbage_in_the_watch_stops_no_probe(node: AgentNode) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    node.api.watches[0].send(b"garbage\n")
    await still_probes(node)
    node.run(made_pod(READINESS, name="second"))
    await node.until(lambda: node.is_ready("second"))


async def test_a_forgotten_version_is_listed_again_and_a_deletion_meanwhile_is_seen(node: AgentNode) -> None:
    pod = made_pod(READINESS)
    node.run(pod)
    await node.until(node.is_ready)
    await node.api.refuse()
    node.api.remove(PODS, "web", "default")
    node.kubelet.remove(pod)
    node.api.store.compact()
    await node.api.accept()
    await node.until(lambda: not node.agent.pods.by_uid)


async def test_a_pod_that_cannot_be_read_costs_one_line_and_no_other_pod(
    node: AgentNode, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = made_pod(READINESS, name="broken")
    broken["spec"]["containers"] = [{"name": 5}]
    node.create(broken)
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    assert capsys.readouterr().out.count("default/broken cannot be read") == 1


def test_pods_of_other_nodes_are_passed_over_even_if_the_server_ignores_selectors() -> None:
    elsewhere = made_pod(READINESS, name="elsewhere", nodeName="worker-2")
    assert api_pod(elsewhere, "worker-1") is None
    mirror = made_pod(READINESS, annotations={"kubernetes.io/config.mirror": "x"})
    assert api_pod(mirror, "worker-1") is None


async def test_ten_thousand_pods_in_a_list_leave_the_node_its_own(bare_node: AgentNode) -> None:
    for index in range(10_000):
        bare_node.api.put(PODS, made_pod(READINESS, name=f"p{index}", nodeName="worker-2" if index else "worker-1"))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.agent.pods.by_uid)
        assert [pod.full_name for pod in bare_node.agent.pods.by_uid.values()] == ["default/p0"]


async def test_a_jump_of_the_agents_clock_kills_nothing_and_forgets_nothing(node: AgentNode) -> None:
    node.run(made_pod({"app": {"livenessProbe": EXEC, "readinessProbe": EXEC}}))
    await node.until(node.is_ready)
    await node.round_trip(86_400 * 10**9)
    await still_probes(node)
    assert node.is_ready()
    assert not node.stopped()
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(node.stopped)
    assert len(node.stopped()) == 1
