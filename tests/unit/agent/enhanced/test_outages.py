"""An API server that is away, refuses or loses; an agent that restarts; a cluster without the kind."""

import asyncio
from typing import Any

import pytest
from probelet.kube.kinds import NODE_POD_PROBES

from tests.support.kube_api import Answer, Delay
from tests.unit.agent.enhanced.asking import (
    FAILS,
    ask,
    commands,
    entry,
    handler,
    is_state,
    probe,
    state,
    status,
    writes,
)
from tests.unit.agent.made_pod import NODE, made_pod
from tests.unit.agent.scripted_agent import AgentNode

SECOND = 1_000_000_000


async def probed(node: AgentNode, **fields: Any) -> dict[str, Any]:
    """A pod whose probe has succeeded; returns it."""
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe(**fields)))
    await node.until(lambda: is_state(node, "Succeeded"))
    return pod


async def seconds(node: AgentNode, count: int) -> None:
    """Lets so many seconds pass in long steps."""
    for _ in range(count):
        await node.round_trip(SECOND)


async def test_f2b_without_the_api_server_probes_go_on_and_the_latest_state_is_written_once(node: AgentNode) -> None:
    await probed(node)
    wrote = writes(node)
    await node.api.refuse()
    for _ in range(3):
        node.runtime.exec_answers["probe",] = FAILS
        ran = commands(node)
        await node.until(lambda least=ran + 2: commands(node) > least)
        node.runtime.exec_answers.clear()
        await node.for_seconds(2)
    node.runtime.exec_answers["probe",] = FAILS
    await node.for_seconds(2)
    await node.api.accept()
    await node.until(lambda: is_state(node, "Failed"))
    assert writes(node) == wrote + 1
    assert not node.stopped(), "the agent never kills for it"


async def test_t15_a_write_that_fails_five_times_is_made_once_with_the_final_state(node: AgentNode) -> None:
    await probed(node)
    wrote = writes(node)
    node.api.faults.add(Answer(500), "update", "nodepodprobes", times=5)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
    assert writes(node) == wrote + 6
    counts = node.agent.view.metrics().decode()
    assert 'probelet_elp_status_updates_total{result="error"} 5' in counts


async def test_d9_a_conflict_reads_and_merges_again_and_keeps_what_others_wrote(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    over = asyncio.Event()
    node.api.faults.add(Delay(over), "update", "nodepodprobes")
    node.runtime.exec_answers["probe",] = FAILS
    wrote = writes(node)
    await node.until(lambda: writes(node) > wrote)
    # While our write is under way, another writer adds an entry and the state that it found for it.
    other = entry(made_pod(name="other", uid="uid-other"), handler("ppm#check", exec={"command": ["x"]}))
    found = node.api.get(NODE_POD_PROBES, NODE)
    assert found is not None
    foreign = {"name": "other", "namespace": "default", "uid": "uid-other"} | {
        "probeStates": [{"name": "ppm#check", "state": "Failed", "message": "theirs"}]
    }
    spec = {"podProbes": [other, *found["spec"]["podProbes"]]}
    node.api.put(NODE_POD_PROBES, {**found, "spec": spec, "status": {"podProbeStatuses": [foreign, *status(node)]}})
    over.set()
    await node.until(lambda: is_state(node, "Failed"))
    assert state(node, "ppm#check") == {"name": "ppm#check", "state": "Failed", "message": "theirs"}
    assert [each["uid"] for each in status(node)] == ["uid-other", pod["metadata"]["uid"]]


async def test_d9_changes_of_many_pods_are_one_write(node: AgentNode) -> None:
    pods = [made_pod(name=f"web{number}") for number in range(20)]
    for pod in pods:
        node.run(pod)
    ask(node, *(entry(pod, probe(f"{pod['metadata']['name']}-app")) for pod in pods))
    await node.until(lambda: len(status(node)) == len(pods))
    await node.until(lambda: all(found["probeStates"][0]["state"] == "Succeeded" for found in status(node)))
    assert writes(node) <= 3


async def test_d9_a_state_that_does_not_change_is_not_written(node: AgentNode) -> None:
    await probed(node)
    wrote = writes(node)
    await node.for_seconds(20)
    assert writes(node) == wrote


async def test_d8_f17_a_failure_is_written_again_with_each_heartbeat_also_if_another_writer_lost_it(
    node: AgentNode,
) -> None:
    pod = await probed(node)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
    failed = state(node)
    found = node.api.get(NODE_POD_PROBES, NODE)
    assert found is not None
    node.api.put(NODE_POD_PROBES, {**found, "status": {"podProbeStatuses": []}})
    wrote = writes(node)
    await seconds(node, 150)
    assert writes(node) == wrote
    await seconds(node, 60)
    await node.until(lambda: is_state(node, "Failed"))
    assert state(node)["lastTransitionTime"] == failed["lastTransitionTime"]
    assert state(node)["lastProbeTime"] > failed["lastProbeTime"]
    assert status(node)[0]["uid"] == pod["metadata"]["uid"]


async def test_d9_a_change_while_a_write_is_under_way_is_published_after_it(node: AgentNode) -> None:
    over = asyncio.Event()
    await probed(node)
    node.api.faults.add(Delay(over), "update", "nodepodprobes")
    node.runtime.exec_answers["probe",] = FAILS
    wrote = node.api.seen("update", "nodepodprobes")
    await node.until(lambda: node.api.seen("update", "nodepodprobes") > wrote)
    node.runtime.exec_answers.clear()
    ran = commands(node)
    await node.until(lambda: commands(node) >= ran + 3)
    over.set()
    began_ns = node.ahead_ns
    await node.until(lambda: is_state(node, "Succeeded"))
    assert node.ahead_ns - began_ns < 30 * SECOND, "at once, and not with the next heartbeat"


async def test_f4_a_restarted_agent_publishes_no_unknown_over_what_is_known_of_the_container(
    bare_node: AgentNode,
) -> None:
    pod = made_pod()
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.run(pod)
    async with bare_node.an_agent():
        ask(bare_node, entry(pod, probe(failureThreshold=3)))
        await bare_node.until(lambda: is_state(bare_node, "Failed"))
    failed, wrote, ran = state(bare_node), writes(bare_node), commands(bare_node)
    async with bare_node.an_agent():
        await bare_node.until(lambda: commands(bare_node) > ran + 5)
        assert state(bare_node) == failed
        assert writes(bare_node) == wrote
        assert len(bare_node.events("ELPProbeFailed")) == 1
        bare_node.runtime.exec_answers.clear()
        await bare_node.until(lambda: is_state(bare_node, "Succeeded"))


async def test_f4_a_container_that_came_while_no_agent_ran_is_unknown_first(bare_node: AgentNode) -> None:
    pod = made_pod()
    bare_node.runtime.exec_answers["probe",] = FAILS
    (first,) = bare_node.run(pod)
    async with bare_node.an_agent():
        ask(bare_node, entry(pod, probe(failureThreshold=3)))
        await bare_node.until(lambda: is_state(bare_node, "Failed"))
        await bare_node.for_seconds(2)
    failed = state(bare_node)
    bare_node.runtime.exit(first, 137)
    bare_node.restart(pod)
    async with bare_node.an_agent():
        await bare_node.until(lambda: is_state(bare_node, "Unknown"))
        await bare_node.until(lambda: is_state(bare_node, "Failed"))
        assert state(bare_node)["lastTransitionTime"] > failed["lastTransitionTime"]


async def test_d16_a_runtime_that_does_not_answer_makes_no_failure(bare_node: AgentNode) -> None:
    from probelet.runtime.cri import errors

    async with bare_node.an_agent():
        await probed(bare_node)
        succeeded = state(bare_node)
        bare_node.runtime.refuse["exec_sync"] = errors.RuntimeRefused("gone")
        ran = commands(bare_node)
        await bare_node.until(lambda: commands(bare_node) > ran + 9)
        assert state(bare_node) == succeeded


async def test_f9_a_cluster_without_the_kind_is_asked_seldom_and_probed_once_it_has_it(bare_node: AgentNode) -> None:
    bare_node.api.faults.add(Answer(404, reason="NotFound"), "list", "nodepodprobes", times=3)
    async with bare_node.an_agent():
        pod = made_pod()
        bare_node.run(pod)
        await seconds(bare_node, 50)
        assert bare_node.api.seen("list", "nodepodprobes") == 1, "a minute between two questions, then more"
        ask(bare_node, entry(pod, probe()))
        await seconds(bare_node, 60 + 120 + 180)
        await bare_node.until(lambda: is_state(bare_node, "Succeeded"))


@pytest.mark.parametrize("skip", [0, 1])
async def test_a_server_that_forgets_the_kind_for_a_moment_loses_no_probe(bare_node: AgentNode, skip: int) -> None:
    async with bare_node.an_agent():
        await probed(bare_node)
        bare_node.api.faults.add(Answer(404, reason="NotFound"), "list", "nodepodprobes", skip=skip)
        await bare_node.api.refuse()
        await bare_node.for_seconds(2)
        await bare_node.api.accept()
        await seconds(bare_node, 90)
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(lambda: is_state(bare_node, "Failed"))


async def test_a_node_whose_prober_is_another_program_asks_for_nothing(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(enhanced_engine=None):
        pod = made_pod()
        bare_node.run(pod)
        ask(bare_node, entry(pod, probe()))
        await bare_node.for_seconds(3)
    assert not [path for verb, path in bare_node.api.requests if "nodepodprobes" in path]
    assert not commands(bare_node)


async def test_a_broken_object_of_this_node_ends_no_agent(node: AgentNode) -> None:
    await probed(node)
    broken: dict[str, Any] = {"podProbes": [None, 7, {"uid": 1, "probes": "x"}, {"uid": "u", "probes": [None, {}]}]}
    found = node.api.get(NODE_POD_PROBES, NODE)
    assert found is not None
    broken["podProbes"] += found["spec"]["podProbes"]
    node.api.put(NODE_POD_PROBES, {**found, "spec": broken})
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
