"""T-27, C-8: an executor dies at each step of a request, and the agent after it makes one kill, one hook, one event."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from probelet.agent.kill.kill import Kill
from probelet.agent.recreate.pod_executor import PodExecutor
from probelet.agent.recreate.request_kills import RequestKills
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.crash import Crash
from tests.unit.agent.recreate.requests import hooks, observe, phase, plain_pod, release, request, states
from tests.unit.agent.scripted_agent import World

STEPS: Final = 28
"""More awaits than a request has: ``test_a_request_has_fewer_steps`` makes sure."""


@asynccontextmanager
async def crashed(
    world: World, monkeypatch: pytest.MonkeyPatch, step: int, goal: Callable[[], object]
) -> AsyncIterator[Crash]:
    """The world after an agent died at that step of a request, or reached its goal."""
    crash = Crash(step, world.folder)
    begin, stop, one = Kill.begin, RequestKills.stop, PodExecutor._pass

    def driven(work: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: crash.drive(work(*given))

    with monkeypatch.context() as patch:
        patch.setattr(Kill, "begin", driven(begin))
        patch.setattr(RequestKills, "stop", driven(stop))
        patch.setattr(PodExecutor, "_pass", driven(one))
        async with world.an_agent():
            await world.until(lambda: crash.has_come.is_set() or goal())
    if crash.has_come.is_set():
        world.folder = crash.left
    yield crash


def exited(world: World, id: str) -> bool:
    return bool(world.runtime.containers[id].state == api_pb2.CONTAINER_EXITED)


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("step", range(STEPS))
async def test_t27_c8_the_next_agent_kills_once(
    world: World, monkeypatch: pytest.MonkeyPatch, step: int, forced: bool
) -> None:
    pod = plain_pod(hooks=True)
    (app,) = world.run(pod)
    # A forced request kills an instance that is another one than it means.
    request(world, pod, {"app": "older" if forced else app}, strategy={"forceRecreate": forced})

    def goal() -> bool:
        return states(world) == {"app": {"phase": "Recreating", "isKilled": True}} and exited(world, app)

    async with crashed(world, monkeypatch, step, goal), world.an_agent():
        await world.until(goal)
        world.restart(pod)
        observe(world, pod, "app")
        await world.until(lambda: phase(world) == "Completed")
        release(world)
        await world.for_seconds(3)
        assert states(world)["app"]["phase"] == "Succeeded"
        assert [id for id, _ in world.stopped()] == [app], "one request, one stop"
        assert hooks(world) + len(world.events("FailedPreStopHook")) >= 1, (
            "it ran, or an event says that it did not end"
        )
        assert hooks(world) <= 1
        assert len(world.events("Killing")) <= 1
        assert not list((world.folder / "requests").glob("*.json"))
        assert not list((world.folder / "intents").glob("*.json"))


async def test_a_request_has_fewer_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = plain_pod(hooks=True)
    (app,) = world.run(pod)
    request(world, pod, {"app": app})
    goal = lambda: states(world) == {"app": {"phase": "Recreating", "isKilled": True}} and exited(world, app)  # noqa: E731
    async with crashed(world, monkeypatch, 10**6, goal) as crash:
        assert 8 <= crash.steps < STEPS


@pytest.mark.parametrize(("annotations", "ran"), [({}, 1), ({"probelet.dev/prestop-idempotent": "true"}, 2)])
async def test_a_hook_that_died_with_its_agent_is_an_event_or_runs_again(
    world: World, annotations: dict[str, str], ran: int
) -> None:
    world.runtime.held_commands["hook",] = asyncio.Event()
    pod = plain_pod(hooks=True, annotations=annotations)
    (app,) = world.run(pod)
    request(world, pod, {"app": app})
    async with world.an_agent():
        await world.until(lambda: hooks(world))
    world.runtime.held_commands.clear()
    async with world.an_agent():
        await world.until(lambda: exited(world, app) and len(world.events("FailedPreStopHook")) == 2 - ran)
        assert hooks(world) == ran
        assert [id for id, _ in world.stopped()] == [app]
