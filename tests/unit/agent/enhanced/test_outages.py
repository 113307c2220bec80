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
from tests.unit.agent.scripted_agent import World

SECOND = 1_000_000_000


async def probed(node: World, **fields: Any) -> dict[str, Any]:
    """A pod whose probe has succeeded; returns it."""
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe(**fields)))
    await node.until(lambda: is_state(node, "Succeeded"))
    return pod


async def seconds(node: World, count: int) -> None:
    """Lets so many seconds pass in long steps."""
    for _ in range(count):
        await node.round_trip(SECOND)


async def test_f2b_without_the_api_server_probes_go_on_and_the_latest_state_is_written_once(node: World) -> None:
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


async def test_t15_a_write_that_fails_five_times_is_made_once_with_the_final_state(node: World) -> None:
    await probed(node)
    wrote = writes(node)
    node.api.faults.add(Answer(500), "update", "nodepodprobes", times=5)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
    assert writes(node) == wrote + 6
    counts = node.agent.view.metrics().decode()
    assert 'probelet_elp_status_updates_total{result="error"} 5' in counts


async def test_d9_a_conflict_reads_and_merges_again_and_keeps_what_others_wrote(node: World) -> None:
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


async def test_d9_changes_of_many_pods_are_one_write(node: World) -> None:
    pods = [made_pod(name=f"web{number}") for number in range(20)]
    for pod in pods:
        node.run(pod)
    ask(node, *(entry(pod, probe(f"{pod['metadata']['name']}-app")) for pod in pods))
    await node.until(lambda: len(status(node)) == len(pods))
    await node.until(lambda: all(found["probeStates"][0]["state"] == "Succeeded" for found in status(node)))
    assert writes(node) <= 3


async def test_d9_a_state_that_does_not_change_is_not_written(node: World) -> None:
    await probed(node)
    wrote = writes(node)
    await node.for_seconds(20)
    assert writes(node) == wrote


async def test_d8_f17_a_failure_is_written_again_with_each_heartbeat_also_if_another_writer_lost_it(
    node: World,
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


async def test_d9_a_change_while_a_write_is_under_way_is_published_after_it(node: World) -> None:
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
    await node.until(lambda: writes(node) > wrote)
    await seconds(node, 5)
    assert is_state(node, "Succeeded"), "at once, and not with the next heartbeat"


async def test_f4_a_restarted_agent_publishes_no_unknown_over_what_is_known_of_the_container(world: World) -> None:
    pod = made_pod()
    world.runtime.exec_answers["probe",] = FAILS
    world.run(pod)
    async with world.an_agent():
        ask(world, entry(pod, probe(failureThreshold=3)))
        await world.until(lambda: is_state(world, "Failed"))
    failed, wrote, ran = state(world), writes(world), commands(world)
    async with world.an_agent():
        await world.until(lambda: commands(world) > ran + 5)
        assert state(world) == failed
        assert writes(world) == wrote
        assert len(world.events("ELPProbeFailed")) == 1
        world.runtime.exec_answers.clear()
        await world.until(lambda: is_state(world, "Succeeded"))


async def test_f4_a_container_that_came_while_no_agent_ran_is_unknown_first(world: World) -> None:
    pod = made_pod()
    world.runtime.exec_answers["probe",] = FAILS
    (first,) = world.run(pod)
    async with world.an_agent():
        ask(world, entry(pod, probe(failureThreshold=3)))
        await world.until(lambda: is_state(world, "Failed"))
        await world.for_seconds(2)
    failed = state(world)
    world.runtime.exit(first, 137)
    world.restart(pod)
    async with world.an_agent():
        await world.until(lambda: is_state(world, "Unknown"))
        await world.until(lambda: is_state(world, "Failed"))
        assert state(world)["lastTransitionTime"] > failed["lastTransitionTime"]


async def test_d16_a_runtime_that_does_not_answer_makes_no_failure(world: World) -> None:
    from probelet.runtime.cri import errors

    async with world.an_agent():
        await probed(world)
        succeeded = state(world)
        world.runtime.refuse["exec_sync"] = errors.RuntimeRefused("gone")
        ran = commands(world)
        await world.until(lambda: commands(world) > ran + 9)
        assert state(world) == succeeded


async def test_f9_a_cluster_without_the_kind_is_asked_seldom_and_probed_once_it_has_it(world: World) -> None:
    world.api.faults.add(Answer(404, reason="NotFound"), "list", "nodepodprobes", times=3)
    async with world.an_agent():
        pod = made_pod()
        world.run(pod)
        await seconds(world, 50)
        assert world.api.seen("list", "nodepodprobes") == 1, "a minute between two questions, then more"
        ask(world, entry(pod, probe()))
        await seconds(world, 60 + 120 + 180)
        await world.until(lambda: is_state(world, "Succeeded"))


@pytest.mark.parametrize("skip", [0, 1])
async def test_a_server_that_forgets_the_kind_for_a_moment_loses_no_probe(world: World, skip: int) -> None:
    async with world.an_agent():
        await probed(world)
        world.api.faults.add(Answer(404, reason="NotFound"), "list", "nodepodprobes", skip=skip)
        await world.api.refuse()
        await world.for_seconds(2)
        await world.api.accept()
        await seconds(world, 90)
        world.runtime.exec_answers["probe",] = FAILS
        await world.until(lambda: is_state(world, "Failed"))


async def test_a_node_whose_prober_is_another_program_asks_for_nothing(world: World) -> None:
    async with world.an_agent(enhanced_engine=None):
        pod = made_pod()
        world.run(pod)
        ask(world, entry(pod, probe()))
        await world.for_seconds(3)
    assert not [path for verb, path in world.api.requests if "nodepodprobes" in path]
    assert not commands(world)


async def test_a_broken_object_of_this_node_ends_no_agent(node: World) -> None:
    await probed(node)
    broken: dict[str, Any] = {"podProbes": [None, 7, {"uid": 1, "probes": "x"}, {"uid": "u", "probes": [None, {}]}]}
    found = node.api.get(NODE_POD_PROBES, NODE)
    assert found is not None
    broken["podProbes"] += found["spec"]["podProbes"]
    node.api.put(NODE_POD_PROBES, {**found, "spec": broken})
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
