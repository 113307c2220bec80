"""A running pod whose label asks the agent to leave it alone, without a new pod."""

from typing import Any

from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
LIVENESS: dict[str, Any] = {**EXEC, "exec": {"command": ["alive"]}}
BOTH = {"app": {"livenessProbe": LIVENESS, "readinessProbe": EXEC}}


def label(node: AgentNode, value: str | None) -> None:
    """`kubectl label pod web probelet.dev/managed=VALUE --overwrite`."""
    found = node.api.get(PODS, "web", "default")
    assert found is not None
    labels = {} if value is None else {"probelet.dev/managed": value}
    node.api.put(PODS, {**found, "metadata": {**found["metadata"], "labels": labels}})


def attempts(node: AgentNode) -> int:
    return len(node.runtime.called("exec_sync"))


async def test_a_pod_that_is_left_is_ready_and_neither_probed_nor_killed(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: node.condition().get("status") == "False")
    label(node, "false")
    await node.until(node.is_ready)
    node.runtime.exec_answers["alive",] = FAILS
    ran = attempts(node)
    await node.for_seconds(30)
    assert attempts(node) <= ran + 2, "attempts that were in flight"
    assert not node.stopped()
    assert node.is_ready()
    assert len(node.events("ProbesLeft")) == 1


async def test_its_next_container_is_ready_without_a_probe(node: AgentNode) -> None:
    pod = made_pod({"app": {**BOTH["app"], "startupProbe": EXEC}})
    (first,) = node.run(pod)
    await node.until(node.is_ready)
    label(node, "false")
    await node.until(lambda: node.events("ProbesLeft"))
    node.runtime.exec_answers["probe",] = FAILS
    node.runtime.exit(first, 1)
    node.restart(pod)
    await node.for_seconds(20)
    assert node.is_ready()
    assert not node.stopped()


async def test_it_is_probed_and_killed_again_once_the_label_is_another_one(node: AgentNode) -> None:
    (app,) = node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    label(node, "false")
    await node.until(lambda: node.events("ProbesLeft"))
    node.runtime.exec_answers["alive",] = FAILS
    await node.for_seconds(5)
    label(node, "true")
    await node.until(node.stopped)
    assert [id for id, _ in node.stopped()] == [app]
    assert len(node.events("ProbesTakenAgain")) == 1


async def test_a_pause_goes_on_after_it(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    await node.agent.commands.pause("web", None, "liveness", 3600)
    label(node, "false")
    await node.until(lambda: node.events("ProbesLeft"))
    label(node, None)
    await node.until(lambda: node.events("ProbesTakenAgain"))
    node.runtime.exec_answers["alive",] = FAILS
    ran = attempts(node)
    await node.until(lambda: attempts(node) > ran + 5)
    assert not node.stopped()


async def test_the_next_agent_leaves_it_too(bare_node: AgentNode) -> None:
    bare_node.run(made_pod(BOTH))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        label(bare_node, "false")
        await bare_node.until(lambda: bare_node.events("ProbesLeft"))
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.exec_answers["alive",] = FAILS
    async with bare_node.an_agent():
        ran = attempts(bare_node)
        await bare_node.for_seconds(20)
        assert attempts(bare_node) <= ran + 2, "a probe that begins before the pod is known to be left"
        assert not bare_node.stopped()
        assert bare_node.is_ready()


async def test_any_other_value_changes_nothing(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    for value in ("False", "", None, "true"):
        label(node, value)
        await node.for_seconds(2)
    assert node.events("ProbesLeft") == []
    node.runtime.exec_answers["alive",] = FAILS
    await node.until(node.stopped)
