"""An agent that dies in the middle of a kill, at each of its steps, and the agent after it.

The state directory is copied at the moment of the crash, so the next agent finds what kill -9 would have left.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from probelet.agent.kill.kill import Kill
from probelet.kube.kinds import PODS
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.crash import Crash
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import World

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
HOOK: dict[str, Any] = {"lifecycle": {"preStop": {"exec": {"command": ["hook"]}}}}

STEPS: Final = 24
"""More awaits than a kill has: ``test_a_kill_has_fewer_steps`` makes sure."""


@asynccontextmanager
async def crashed(world: World, monkeypatch: pytest.MonkeyPatch, step: int) -> AsyncIterator[Crash]:
    """The world after an agent died at that step of a kill of the container app, or killed it to its end."""
    crash = Crash(step, world.folder)
    begin = Kill.begin
    monkeypatch.setattr(Kill, "begin", lambda kill, victim: crash.drive(begin(kill, victim)))
    world.runtime.exec_answers["probe",] = FAILS
    async with world.an_agent():
        await world.until(lambda: crash.has_come.is_set() or ended(world))
    monkeypatch.setattr(Kill, "begin", begin)
    if crash.has_come.is_set():
        world.folder = crash.left
    yield crash


def ended(world: World) -> bool:
    folder = world.folder / "intents"
    return bool(world.stopped()) and not list(folder.glob("*.json"))


def two_containers(annotations: dict[str, str] | None = None) -> dict[str, Any]:
    containers = [{"name": "app", "image": "i", **HOOK}, {"name": "other", "image": "i", **HOOK}]
    return made_pod({"app": {"livenessProbe": EXEC}}, containers=containers, annotations=annotations)


@pytest.mark.parametrize("step", range(STEPS))
async def test_the_next_agent_goes_on_and_kills_once(world: World, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    pod = two_containers()
    app, _other = world.run(pod)
    async with crashed(world, monkeypatch, step), world.an_agent():
        await world.until(lambda: world.runtime.containers[app].state == api_pb2.CONTAINER_EXITED)
        world.runtime.exec_answers.clear()
        await world.until(lambda: ended(world))
        second = world.restart(pod)
        await world.for_seconds(8)
        assert [id for id, _ in world.stopped()] == [app], "one failure, one stop, of the container that failed"
        assert hooks(world) + len(world.events("FailedPreStopHook")) >= 1, (
            "it ran, or an event says that it did not end"
        )
        assert hooks(world) <= 1
        assert len(world.events("Killing")) <= 1
        assert world.runtime.containers[second].state == api_pb2.CONTAINER_RUNNING


async def test_a_kill_has_fewer_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.run(two_containers())
    async with crashed(world, monkeypatch, 10**6) as crash:
        assert 5 <= crash.steps < STEPS


async def test_the_next_agent_gives_the_rest_of_the_grace_and_runs_no_second_hook(world: World) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.held_commands["hook",] = asyncio.Event()
    (app, _) = world.run(two_containers())
    async with world.an_agent():
        await world.until(lambda: hooks(world))
        await world.for_seconds(12)
    world.runtime.held_commands.clear()
    async with world.an_agent():
        await world.until(world.stopped)
        ((stopped, grace),) = world.stopped()
        assert stopped == app
        assert 2 <= grace <= 18, "of 30 seconds the first agent used 12"
        assert hooks(world) == 1


async def test_a_hook_that_died_with_its_agent_is_one_event(world: World) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.held_commands["hook",] = asyncio.Event()
    world.run(two_containers())
    async with world.an_agent():
        await world.until(lambda: hooks(world))
    world.runtime.held_commands.clear()
    async with world.an_agent():
        await world.until(lambda: world.stopped() and world.events("FailedPreStopHook"))
        await world.for_seconds(5)
        said = "PreStopHook of container app did not end: the agent that ran it ended"
        assert world.events("FailedPreStopHook") == [said]
        assert hooks(world) == 1


async def test_an_idempotent_hook_that_died_with_its_agent_runs_again_within_the_rest_of_the_grace(
    world: World,
) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.held_commands["hook",] = asyncio.Event()
    (app, _) = world.run(two_containers({"probelet.dev/prestop-idempotent": "true"}))
    async with world.an_agent():
        await world.until(lambda: hooks(world))
        await world.for_seconds(12)
    async with world.an_agent():
        await world.until(lambda: hooks(world) == 2)
        assert not world.stopped()
        world.runtime.held_commands["hook",].set()
        await world.until(world.stopped)
        ((stopped, grace),) = world.stopped()
        assert stopped == app
        assert 2 <= grace <= 18, "of 30 seconds the first agent used 12"
        assert world.events("FailedPreStopHook") == []
    async with world.an_agent():
        await world.for_seconds(5)
        assert hooks(world) == 2


async def test_a_hook_that_has_ended_runs_no_second_time_also_if_it_may(world: World) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.refuse["stop_container"] = errors.DeadlineExceeded("context deadline exceeded")
    world.run(two_containers({"probelet.dev/prestop-idempotent": "true"}))
    async with world.an_agent():
        await world.until(world.stopped)
    world.runtime.refuse.clear()
    async with world.an_agent():
        await world.until(lambda: not list((world.folder / "intents").iterdir()))
        assert hooks(world) == 1
        assert world.events("FailedPreStopHook") == []


async def test_a_hook_that_had_not_begun_runs(world: World) -> None:
    """The first agent died while the runtime was away: nothing has asked the program to end yet."""
    (app, _) = world.run(two_containers())
    async with world.an_agent():
        await world.until(lambda: world.runtime.called("exec_sync"))
        world.runtime.refuse["container_status"] = errors.RuntimeUnavailable("connection refused")
        world.runtime.exec_answers["probe",] = FAILS
        await world.until(lambda: list((world.folder / "intents").glob("*.json")))
        assert not hooks(world)
    world.runtime.refuse.clear()
    async with world.an_agent():
        await world.until(world.stopped)
        assert [id for id, _ in world.stopped()] == [app]
        assert hooks(world) == 1
        assert world.events("FailedPreStopHook") == []


async def test_the_hook_of_a_pod_that_terminates_meanwhile_is_the_kubelets(world: World) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.held_commands["hook",] = asyncio.Event()
    pod = two_containers({"probelet.dev/prestop-idempotent": "true"})
    world.run(pod)
    async with world.an_agent():
        await world.until(lambda: hooks(world))
    world.terminate(pod)
    async with world.an_agent():
        await world.until(lambda: not list((world.folder / "intents").glob("*.json")))
        assert hooks(world) == 1
        assert world.events("FailedPreStopHook") == []


@pytest.mark.parametrize(("jump_s", "grace"), [(-86_400, range(10, 31)), (86_400, range(2, 3))])
async def test_a_jump_of_the_wall_clock_gives_no_more_than_the_whole_grace_and_no_less_than_the_least(
    world: World, jump_s: int, grace: range
) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.held_commands["hook",] = asyncio.Event()
    world.run(two_containers())
    async with world.an_agent():
        await world.until(lambda: hooks(world))
    world.runtime.held_commands.clear()
    (path,) = (world.folder / "intents").glob("*.json")
    kept = json.loads(path.read_text())
    # The same difference as a clock that has jumped the other way.
    path.write_text(json.dumps({**kept, "deadline_ms": kept["deadline_ms"] - jump_s * 1000}))
    async with world.an_agent():
        await world.until(world.stopped)
        assert world.stopped()[0][1] in grace


@pytest.mark.parametrize("meanwhile", ["ended", "terminating", "gone"])
async def test_an_intent_is_dropped_if_nothing_is_left_to_kill(world: World, meanwhile: str) -> None:
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.held_commands["hook",] = asyncio.Event()
    pod = two_containers()
    app, _other = world.run(pod)
    async with world.an_agent():
        await world.until(lambda: hooks(world))
    world.runtime.held_commands.clear()
    world.runtime.exec_answers.clear()
    (path,) = (world.folder / "intents").glob("*.json")
    if meanwhile == "ended":
        world.runtime.exit(app, 0)
        world.restart(pod)
    elif meanwhile == "terminating":
        world.terminate(pod)
    else:
        world.kubelet.remove(pod)
        world.api.remove(PODS, "web", "default")
    async with world.an_agent():
        await world.until(lambda: not path.exists())
        await world.for_seconds(8)
        assert not world.stopped()


async def test_an_intent_that_names_no_container_of_the_agents_stops_nothing(world: World) -> None:
    pod = two_containers()
    _app, other = world.run(pod)
    folder = world.folder / "intents"
    folder.mkdir()
    known = {"namespace": "default", "name": "web", "grace_seconds": 30, "grace_source": "pod", "deadline_ms": 0}
    whose = {"pod_uid": "nobodys", "container": "other", "container_id": f"scripted://{other}"}
    (folder / f"{other}.json").write_text(json.dumps({**known, **whose, "reason": "LivenessProbe"}))
    (folder / "b.json").write_text("{")
    async with world.an_agent():
        await world.until(lambda: not list(folder.iterdir()))
        await world.for_seconds(8)
        assert not world.stopped()


def hooks(world: World) -> int:
    return sum(list(call.cmd) == ["hook"] for call in world.runtime.called("exec_sync"))
