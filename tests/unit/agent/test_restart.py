"""An agent that restarts, and one that starts while the API server is away."""

import asyncio
import os

import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import World

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
READINESS = {"app": {"readinessProbe": EXEC}}


async def test_nothing_flaps_across_many_restarts(world: World) -> None:
    world.run(made_pod({"app": {"readinessProbe": EXEC, "startupProbe": EXEC, "livenessProbe": EXEC}}))
    async with world.an_agent():
        await world.until(world.is_ready)
    since = world.condition()["lastTransitionTime"]
    writes = world.api.seen("apply", "pods")
    for _ in range(5):
        async with world.an_agent():
            await world.until(lambda: world.pod() and world.pod()["ready"])
            await world.for_seconds(2)
    assert world.api.seen("apply", "pods") == writes
    assert world.condition()["lastTransitionTime"] == since
    assert not world.stopped()


@pytest.mark.parametrize("probes", [("readinessProbe",), ("readinessProbe", "startupProbe", "livenessProbe")])
async def test_an_agent_that_is_killed_as_the_condition_is_written_is_followed_by_one_that_knows_it(
    world: World, probes: tuple[str, ...]
) -> None:
    """The next agent has only what the journal had on disk when the API server got the condition."""
    world.run(made_pod({"app": dict.fromkeys(probes, EXEC)}))
    journal, kept = world.folder / "journal", list[bytes]()

    def keep() -> None:
        if world.is_ready() and not kept:
            kept.append(journal.read_bytes() if journal.exists() else b"")

    world.api.store.listeners.append(keep)
    async with world.an_agent():
        while not kept:
            # Little time passes, so the journal's own delay is not over.
            await world.round_trip(takes_ns=0)
    journal.write_bytes(kept[0])
    writes = world.api.seen("apply", "pods")
    async with world.an_agent():
        await world.until(lambda: world.pod() and world.pod()["ready"])
        await world.for_seconds(2)
    assert world.api.seen("apply", "pods") == writes


async def test_the_condition_waits_for_the_journal_and_not_for_a_disk_that_hangs(world: World) -> None:
    # A write to a named pipe waits for a reader.
    os.mkfifo(world.folder / "journal.new")
    world.run(made_pod(READINESS))
    async with world.an_agent():
        await world.until(lambda: world.pod() and world.pod()["containers"][0]["ready"])
        await world.for_seconds(2)
        assert not world.is_ready()
        await world.until(world.is_ready)


async def test_a_container_in_its_start_up_stays_unready_across_a_restart(world: World) -> None:
    """Beside a kubelet that restarts such a container becomes ready and stays so (kubernetes#142305)."""
    starts = {**EXEC, "exec": {"command": ["starts"]}, "failureThreshold": 1000}
    world.runtime.exec_answers["starts",] = FAILS
    world.run(made_pod({"app": {"startupProbe": starts, "readinessProbe": EXEC}}))
    async with world.an_agent():
        await world.until(lambda: world.condition().get("status") == "False")
    async with world.an_agent():
        await world.for_seconds(20)
        assert not world.is_ready()
        world.runtime.exec_answers.clear()
        await world.until(world.is_ready)


@pytest.mark.parametrize("release", ["1.35", "1.36"])
async def test_an_instance_that_came_while_no_agent_ran_has_to_start_first(world: World, release: str) -> None:
    starts = {**EXEC, "exec": {"command": ["starts"]}, "failureThreshold": 1000}
    pod = made_pod({"app": {"startupProbe": starts, "readinessProbe": EXEC, "livenessProbe": EXEC}})
    (first,) = world.run(pod)
    async with world.an_agent(release=release):
        await world.until(world.is_ready)
    world.runtime.exec_answers["starts",] = FAILS
    world.runtime.exit(first, 1)
    second = world.restart(pod)
    async with world.an_agent(release=release):
        await world.until(lambda: not world.is_ready())
        await world.for_seconds(5)
        assert not world.pod()["containers"][0]["started"]
        of_second = [call for call in world.runtime.called("exec_sync") if call.container_id == second]
        assert {tuple(call.cmd) for call in of_second} == {("starts",)}
        world.runtime.exec_answers.clear()
        await world.until(world.is_ready)


async def test_a_probe_keeps_its_schedule_across_a_restart(world: World) -> None:
    """Else a rollout of agents would make every probe of the cluster at once."""
    world.run(made_pod({"app": {"readinessProbe": {**EXEC, "periodSeconds": 600}}}))
    async with world.an_agent():
        await world.until(world.is_ready)
        await world.round_trip(400 * 10**9)
    made = len(world.runtime.called("exec_sync"))
    async with world.an_agent():
        await world.until(lambda: world.pod() and world.pod()["ready"])
        await world.for_seconds(20)
        assert len(world.runtime.called("exec_sync")) == made, "not at once"
        await world.round_trip(250 * 10**9)
        await world.until(lambda: len(world.runtime.called("exec_sync")) == made + 1)


async def test_a_streak_of_failures_goes_on_after_a_restart(world: World) -> None:
    probe = {**EXEC, "failureThreshold": 3, "periodSeconds": 30}
    world.runtime.exec_answers["probe",] = FAILS
    (app,) = world.run(made_pod({"app": {"livenessProbe": probe}}))
    for _ in range(2):
        async with world.an_agent():
            count = len(world.events("Unhealthy"))
            attempts = len(world.runtime.called("exec_sync"))
            await world.until(lambda: len(world.runtime.called("exec_sync")) > attempts)  # noqa: B023
            await world.for_seconds(1)
            assert not world.stopped(), count
        # The journal is written within a tenth of a second.
        await asyncio.sleep(0)
    async with world.an_agent():
        await world.until(world.stopped)
    assert [id for id, _ in world.stopped()] == [app]
    assert len(world.runtime.called("exec_sync")) == 3


async def test_a_start_while_the_api_server_is_away_probes_the_pods_of_the_earlier_agent(world: World) -> None:
    (app,) = world.run(made_pod({"app": {"readinessProbe": EXEC, "livenessProbe": EXEC}}))
    async with world.an_agent():
        await world.until(world.is_ready)
    await world.api.refuse()
    before = len(world.runtime.called("exec_sync"))
    async with world.an_agent():
        await world.until(lambda: len(world.runtime.called("exec_sync")) > before + 3)
        world.runtime.exec_answers["probe",] = FAILS
        await world.until(world.stopped)
        assert [id for id, _ in world.stopped()] == [app], "probing and killing go on"
        assert world.is_ready(), "what the API server last had"
        await world.api.accept()
        await world.until(lambda: not world.is_ready())


async def test_a_damaged_file_of_a_pod_is_as_none(world: World) -> None:
    world.run(made_pod(READINESS))
    folder = world.folder / "pods"
    folder.mkdir()
    (folder / "broken.json").write_bytes(b"\xff{")
    (folder / "half.json.new").write_text("{")
    async with world.an_agent():
        await world.until(world.is_ready)
        assert len(list(folder.iterdir())) == 1


async def test_two_kinds_of_pods_on_one_runtime_stay_apart(world: World) -> None:
    """``probelet run`` of the same machine labels its sandboxes; the agent passes them over, also with a known UID."""
    pod = made_pod({"app": {"livenessProbe": EXEC}})
    world.run(pod)
    sandbox = world.kubelet.sandbox(pod)
    world.runtime.sandboxes[sandbox].labels["probelet.dev/node"] = "worker-1"
    theirs = world.kubelet.start(pod, sandbox=sandbox)
    async with world.an_agent():
        await world.until(lambda: world.runtime.called("exec_sync"))
        # Without the API server the runtime's word alone begins a container.
        await world.api.refuse()
        await world.for_seconds(5)
        world.runtime.exec_answers["probe",] = FAILS
        await world.until(world.stopped)
        await world.for_seconds(3)
        assert theirs not in [id for id, _ in world.stopped()]
        assert theirs not in {call.container_id for call in world.runtime.called("exec_sync")}
    calls = {name for name, _ in world.runtime.calls}
    assert not calls & {"run_pod_sandbox", "stop_pod_sandbox", "remove_pod_sandbox", "create_container"}
    assert not calls & {"start_container", "remove_container"}, "the agent creates and removes nothing"
