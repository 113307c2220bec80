"""T-27, C-8: an executor dies at each step of a request, and the agent after it makes one kill, one hook, one event."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import product
from typing import Any, Final

import pytest
from probelet.agent.kill.kill import Kill
from probelet.agent.recreate.pod_executor import PodExecutor
from probelet.agent.recreate.request_kills import RequestKills
from probelet.runtime.cri.v1 import api_pb2

from tests.support.schedule import one_in
from tests.unit.agent.crash import Crash
from tests.unit.agent.recreate.requests import hooks, observe, phase, plain_pod, release, request, states
from tests.unit.agent.scripted_agent import AgentNode

STEPS: Final = 26
"""More awaits than a request has, which are 20 to 23: ``test_a_request_has_fewer_steps`` makes sure."""


@asynccontextmanager
async def crashed(
    bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch, step: int, goal: Callable[[], object]
) -> AsyncIterator[Crash]:
    """The bare_node after an agent died at that step of a request, or reached its goal."""
    crash = Crash(step, bare_node.folder)
    begin, stop, one = Kill.begin, RequestKills.stop, PodExecutor._pass

    def driven(work: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: crash.drive(work(*given))

    with monkeypatch.context() as patch:
        patch.setattr(Kill, "begin", driven(begin))
        patch.setattr(RequestKills, "stop", driven(stop))
        patch.setattr(PodExecutor, "_pass", driven(one))
        async with bare_node.an_agent():
            await bare_node.until(lambda: crash.has_come.is_set() or goal())
    if crash.has_come.is_set():
        bare_node.folder = crash.left
    yield crash


def exited(bare_node: AgentNode, id: str) -> bool:
    return bool(bare_node.runtime.containers[id].state == api_pb2.CONTAINER_EXITED)


@pytest.mark.parametrize(("step", "forced"), one_in(3, product(range(STEPS), (False, True))))
async def test_t27_c8_the_next_agent_kills_once(
    bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch, step: int, forced: bool
) -> None:
    pod = plain_pod(hooks=True)
    (app,) = bare_node.run(pod)
    # A forced request kills an instance that is another one than it means.
    request(bare_node, pod, {"app": "older" if forced else app}, strategy={"forceRecreate": forced})

    def goal() -> bool:
        return states(bare_node) == {"app": {"phase": "Recreating", "isKilled": True}} and exited(bare_node, app)

    async with crashed(bare_node, monkeypatch, step, goal), bare_node.an_agent():
        await bare_node.until(goal)
        bare_node.restart(pod)
        observe(bare_node, pod, "app")
        await bare_node.until(lambda: phase(bare_node) == "Completed")
        release(bare_node)
        await bare_node.for_seconds(3)
        assert states(bare_node)["app"]["phase"] == "Succeeded"
        assert [id for id, _ in bare_node.stopped()] == [app], "one request, one stop"
        assert hooks(bare_node) + len(bare_node.events("FailedPreStopHook")) >= 1, (
            "it ran, or an event says that it did not end"
        )
        assert hooks(bare_node) <= 1
        assert len(bare_node.events("Killing")) <= 1
        assert not list((bare_node.folder / "requests").glob("*.json"))
        assert not list((bare_node.folder / "intents").glob("*.json"))


async def test_a_request_has_fewer_steps(bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = plain_pod(hooks=True)
    (app,) = bare_node.run(pod)
    request(bare_node, pod, {"app": app})
    goal = lambda: states(bare_node) == {"app": {"phase": "Recreating", "isKilled": True}} and exited(bare_node, app)  # noqa: E731
    async with crashed(bare_node, monkeypatch, 10**6, goal) as crash:
        assert 8 <= crash.steps < STEPS


@pytest.mark.parametrize(("annotations", "ran"), [({}, 1), ({"probelet.dev/prestop-idempotent": "true"}, 2)])
async def test_a_hook_that_died_with_its_agent_is_an_event_or_runs_again(
    bare_node: AgentNode, annotations: dict[str, str], ran: int
) -> None:
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    pod = plain_pod(hooks=True, annotations=annotations)
    (app,) = bare_node.run(pod)
    request(bare_node, pod, {"app": app})
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
    bare_node.runtime.held_commands.clear()
    async with bare_node.an_agent():
        await bare_node.until(lambda: exited(bare_node, app) and len(bare_node.events("FailedPreStopHook")) == 2 - ran)
        assert hooks(bare_node) == ran
        assert [id for id, _ in bare_node.stopped()] == [app]
