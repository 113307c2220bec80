"""The condition of the readiness gate at the API server."""

import asyncio
from typing import Any

import pytest
from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.support.kube_api import Answer, Delay
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
READINESS = {"app": {"readinessProbe": EXEC}}


def applied(node: AgentNode) -> int:
    return node.api.seen("apply", "pods")


def written(node: AgentNode, result: str) -> int:
    line = f'probelet_agent_condition_writes_total{{result="{result}"}} '
    (found,) = [each for each in node.agent.view.metrics().decode().splitlines() if each.startswith(line)]
    return int(found.removeprefix(line))


async def turn(node: AgentNode, *, ready: bool) -> None:
    """The probe answers otherwise from now on, and the agent's own view follows."""
    if ready:
        node.runtime.exec_answers.clear()
    else:
        node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: node.pod()["ready"] is ready)


async def test_it_is_applied_on_change_only_with_a_manager_of_its_own(node: AgentNode) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    writes = applied(node)
    await node.for_seconds(20)
    assert applied(node) == writes, "twenty probes that confirm what is known"
    found = node.api.get(PODS, "web", "default")
    assert found is not None
    assert found["status"]["containerStatuses"], "an apply of the condition leaves the rest of the status"
    (key,) = [key for key in node.api.store.owners if key[0] == PODS]
    assert "probelet-agent" in str(vars(node.api.store.owners[key]))


async def test_while_the_api_server_is_away_only_the_latest_is_kept(node: AgentNode) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    await node.api.refuse()
    for ready in (False, True, False):
        await turn(node, ready=ready)
    writes = applied(node)
    await node.api.accept()
    await node.until(lambda: not node.is_ready())
    assert applied(node) == writes + 1


async def test_a_change_that_went_back_is_not_written(node: AgentNode) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    # The agent has the answer to its write, too: one that it never gets is written again.
    await node.for_seconds(2)
    writes = applied(node)
    await node.api.refuse()
    await turn(node, ready=False)
    await turn(node, ready=True)
    await node.api.accept()
    await node.until(lambda: node.agent.view.ready()[0] and node.api.watches)
    await node.for_seconds(40)
    assert applied(node) == writes


@pytest.mark.parametrize("code", [429, 500, 403])
async def test_a_refused_write_is_tried_again_with_the_latest(node: AgentNode, code: int) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    node.api.faults.add(Answer(code), "apply", "pods", times=2)
    await turn(node, ready=False)
    await node.until(lambda: not node.is_ready())
    assert written(node, "error") == 2


async def test_retry_after_is_kept(node: AgentNode) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    node.api.faults.add(Answer(429, headers={"Retry-After": "60"}), "apply", "pods")
    await turn(node, ready=False)
    await node.until(lambda: written(node, "error") == 1)
    begun = node.agent.host.timers.now()
    await node.until(lambda: not node.is_ready())
    assert node.agent.host.timers.now() - begun >= 55 * 10**9


async def test_a_missing_right_is_named_by_verb_and_resource(
    node: AgentNode, capsys: pytest.CaptureFixture[str]
) -> None:
    message = 'User "system:serviceaccount:probelet-system:probelet-agent" cannot patch resource "pods/status"'
    node.api.faults.add(Answer(403, message, "Forbidden"), "apply", "pods", times=None)
    node.run(made_pod(READINESS))
    await node.until(lambda: applied(node) > 1)
    said = capsys.readouterr().out
    assert "apply pods/status default/web: Forbidden" in said
    assert 'cannot patch resource "pods/status"' in said
    node.api.faults.clear()
    await node.until(node.is_ready)


async def test_a_pod_of_the_same_name_and_another_uid_is_left_alone(node: AgentNode) -> None:
    pod = made_pod(READINESS)
    node.run(pod)
    await node.until(node.is_ready)
    over = asyncio.Event()
    node.api.faults.add(Delay(over), "apply", "pods")
    await turn(node, ready=False)
    await node.until(lambda: node.api.seen("apply", "pods") >= 2)
    node.api.remove(PODS, "web", "default")
    node.create(made_pod(READINESS, uid="another"))
    over.set()
    await node.until(lambda: written(node, "gone") == 1)
    await node.until(lambda: node.condition().get("status") == "False")
    assert node.condition()["message"] == "containers with unready status: [app]", "the new pod's own"


async def test_a_condition_that_the_api_server_has_already_is_not_written_again(bare_node: AgentNode) -> None:
    pod = made_pod(READINESS)
    bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        since = bare_node.condition()["lastTransitionTime"]
    writes = applied(bare_node)
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["ready"])
        await bare_node.for_seconds(10)
        assert applied(bare_node) == writes, "an agent that restarts: nothing flaps"
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(lambda: not bare_node.is_ready())
        assert bare_node.condition()["lastTransitionTime"] >= since


async def test_the_conditions_stay_as_they_were_while_no_agent_runs(bare_node: AgentNode) -> None:
    async with bare_node.an_agent():
        bare_node.run(made_pod(READINESS))
        await bare_node.until(bare_node.is_ready)
    bare_node.runtime.exec_answers["probe",] = FAILS
    assert bare_node.is_ready()


async def test_a_condition_that_somebody_else_changes_is_written_again_and_no_contest_follows(node: AgentNode) -> None:
    node.runtime.exec_answers["probe",] = FAILS
    node.run(made_pod(READINESS))
    await node.until(lambda: node.condition().get("status") == "False")
    opened = 0
    begun = node.agent.host.timers.now()
    while node.agent.host.timers.now() - begun < 100 * 10**9:
        if not node.is_ready():
            found = node.api.get(PODS, "web", "default")
            assert found is not None
            smuggled = [{"type": "probelet.dev/ready", "status": "True"}]
            node.api.put(PODS, {**found, "status": {**found["status"], "conditions": smuggled}})
            opened += 1
        await node.for_seconds(0.1)
    assert 5 <= opened <= 13, "ten seconds between two writes"
    await node.until(lambda: not node.is_ready())


async def test_a_pod_whose_liveness_alone_was_taken_over_has_no_condition(node: AgentNode) -> None:
    node.run(made_pod({"app": {"livenessProbe": EXEC}}, readinessGates=[]))
    await node.until(lambda: node.runtime.called("exec_sync"))
    await node.for_seconds(5)
    assert node.condition() == {}


async def test_every_container_with_a_taken_over_probe_counts(node: AgentNode) -> None:
    containers: list[dict[str, Any]] = [{"name": name, "image": "i"} for name in ("a", "b", "c")]
    slow = {"exec": {"command": ["slow"]}, "periodSeconds": 1, "failureThreshold": 1}
    node.runtime.exec_answers["slow",] = FAILS
    node.run(made_pod({"a": {"readinessProbe": slow}, "b": {"readinessProbe": EXEC}}, containers=containers))
    await node.until(lambda: node.condition().get("message", "").startswith("containers with unready status: [a]"))
    node.runtime.exec_answers.clear()
    await node.until(node.is_ready)
