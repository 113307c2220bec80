"""An agent that dies in the middle of a kill, at each of its steps, and the agent after it.

The state directory is copied at the moment of the crash, so the next agent finds what kill -9 would have left.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from probelet.agent.kill.kill import Kill
from probelet.kube.kinds import PODS
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.crash import Crash
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
HOOK: dict[str, Any] = {"lifecycle": {"preStop": {"exec": {"command": ["hook"]}}}}

STEPS: Final = 16
"""More awaits than a kill has: ``test_a_kill_has_fewer_steps`` makes sure."""


@asynccontextmanager
async def crashed(bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch, step: int) -> AsyncIterator[Crash]:
    """The bare_node after an agent died at that step of a kill of the container app, or killed it to its end."""
    crash = Crash(step, bare_node.folder)
    begin = Kill.begin
    monkeypatch.setattr(Kill, "begin", lambda kill, victim: crash.drive(begin(kill, victim)))
    bare_node.runtime.exec_answers["probe",] = FAILS
    async with bare_node.an_agent():
        await bare_node.until(lambda: crash.has_come.is_set() or ended(bare_node))
    monkeypatch.setattr(Kill, "begin", begin)
    if crash.has_come.is_set():
        bare_node.folder = crash.left
    yield crash


def ended(bare_node: AgentNode) -> bool:
    folder = bare_node.folder / "intents"
    return bool(bare_node.stopped()) and not list(folder.glob("*.json"))


def two_containers(annotations: dict[str, str] | None = None) -> dict[str, Any]:
    containers = [{"name": "app", "image": "i", **HOOK}, {"name": "other", "image": "i", **HOOK}]
    return made_pod({"app": {"livenessProbe": EXEC}}, containers=containers, annotations=annotations)


@pytest.mark.parametrize("step", range(STEPS))
async def test_the_next_agent_goes_on_and_kills_once(
    bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    pod = two_containers()
    app, _other = bare_node.run(pod)
    async with crashed(bare_node, monkeypatch, step), bare_node.an_agent():
        await bare_node.until(lambda: bare_node.runtime.containers[app].state == api_pb2.CONTAINER_EXITED)
        bare_node.runtime.exec_answers.clear()
        await bare_node.until(lambda: ended(bare_node))
        second = bare_node.restart(pod)
        await bare_node.for_seconds(8)
        assert [id for id, _ in bare_node.stopped()] == [app], "one failure, one stop, of the container that failed"
        assert hooks(bare_node) + len(bare_node.events("FailedPreStopHook")) >= 1, (
            "it ran, or an event says that it did not end"
        )
        assert hooks(bare_node) <= 1
        assert len(bare_node.events("Killing")) <= 1
        assert bare_node.runtime.containers[second].state == api_pb2.CONTAINER_RUNNING


async def test_a_kill_has_fewer_steps(bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_node.run(two_containers())
    async with crashed(bare_node, monkeypatch, 10**6) as crash:
        assert 5 <= crash.steps < STEPS


async def test_the_next_agent_gives_the_rest_of_the_grace_and_runs_no_second_hook(bare_node: AgentNode) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    (app, _) = bare_node.run(two_containers())
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
        await bare_node.for_seconds(12)
    bare_node.runtime.held_commands.clear()
    async with bare_node.an_agent():
        await bare_node.until(bare_node.stopped)
        ((stopped, grace),) = bare_node.stopped()
        assert stopped == app
        assert 2 <= grace <= 18, "of 30 seconds the first agent used 12"
        assert hooks(bare_node) == 1


async def test_a_hook_that_died_with_its_agent_is_one_event(bare_node: AgentNode) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    bare_node.run(two_containers())
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
    bare_node.runtime.held_commands.clear()
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.stopped() and bare_node.events("FailedPreStopHook"))
        await bare_node.for_seconds(5)
        said = "PreStopHook of container app did not end: the agent that ran it ended"
        assert bare_node.events("FailedPreStopHook") == [said]
        assert hooks(bare_node) == 1


async def test_an_idempotent_hook_that_died_with_its_agent_runs_again_within_the_rest_of_the_grace(
    bare_node: AgentNode,
) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    (app, _) = bare_node.run(two_containers({"probelet.dev/prestop-idempotent": "true"}))
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
        await bare_node.for_seconds(12)
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node) == 2)
        assert not bare_node.stopped()
        bare_node.runtime.held_commands["hook",].set()
        await bare_node.until(bare_node.stopped)
        ((stopped, grace),) = bare_node.stopped()
        assert stopped == app
        assert 2 <= grace <= 18, "of 30 seconds the first agent used 12"
        assert bare_node.events("FailedPreStopHook") == []
    async with bare_node.an_agent():
        await bare_node.for_seconds(5)
        assert hooks(bare_node) == 2


async def test_a_hook_that_has_ended_runs_no_second_time_also_if_it_may(bare_node: AgentNode) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.refuse["stop_container"] = errors.DeadlineExceeded("context deadline exceeded")
    bare_node.run(two_containers({"probelet.dev/prestop-idempotent": "true"}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.stopped)
    bare_node.runtime.refuse.clear()
    async with bare_node.an_agent():
        await bare_node.until(lambda: not list((bare_node.folder / "intents").iterdir()))
        assert hooks(bare_node) == 1
        assert bare_node.events("FailedPreStopHook") == []


async def test_a_hook_that_had_not_begun_runs(bare_node: AgentNode) -> None:
    """The first agent died while the runtime was away: nothing has asked the program to end yet."""
    (app, _) = bare_node.run(two_containers())
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.runtime.called("exec_sync"))
        bare_node.runtime.refuse["container_status"] = errors.RuntimeUnavailable("connection refused")
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(lambda: list((bare_node.folder / "intents").glob("*.json")))
        assert not hooks(bare_node)
    bare_node.runtime.refuse.clear()
    async with bare_node.an_agent():
        await bare_node.until(bare_node.stopped)
        assert [id for id, _ in bare_node.stopped()] == [app]
        assert hooks(bare_node) == 1
        assert bare_node.events("FailedPreStopHook") == []


async def test_the_hook_of_a_pod_that_terminates_meanwhile_is_the_kubelets(bare_node: AgentNode) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    pod = two_containers({"probelet.dev/prestop-idempotent": "true"})
    bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
    bare_node.terminate(pod)
    async with bare_node.an_agent():
        await bare_node.until(lambda: not list((bare_node.folder / "intents").glob("*.json")))
        assert hooks(bare_node) == 1
        assert bare_node.events("FailedPreStopHook") == []


@pytest.mark.parametrize(("jump_s", "grace"), [(-86_400, range(10, 31)), (86_400, range(2, 3))])
async def test_a_jump_of_the_wall_clock_gives_no_more_than_the_whole_grace_and_no_less_than_the_least(
    bare_node: AgentNode, jump_s: int, grace: range
) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    bare_node.run(two_containers())
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
    bare_node.runtime.held_commands.clear()
    (path,) = (bare_node.folder / "intents").glob("*.json")
    kept = json.loads(path.read_text())
    # The same difference as a clock that has jumped the other way.
    path.write_text(json.dumps({**kept, "deadline_ms": kept["deadline_ms"] - jump_s * 1000}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.stopped)
        assert bare_node.stopped()[0][1] in grace


@pytest.mark.parametrize("meanwhile", ["ended", "terminating", "gone"])
async def test_an_intent_is_dropped_if_nothing_is_left_to_kill(bare_node: AgentNode, meanwhile: str) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    pod = two_containers()
    app, _other = bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
    bare_node.runtime.held_commands.clear()
    bare_node.runtime.exec_answers.clear()
    (path,) = (bare_node.folder / "intents").glob("*.json")
    if meanwhile == "ended":
        bare_node.runtime.exit(app, 0)
        bare_node.restart(pod)
    elif meanwhile == "terminating":
        bare_node.terminate(pod)
    else:
        bare_node.kubelet.remove(pod)
        bare_node.api.remove(PODS, "web", "default")
    async with bare_node.an_agent():
        await bare_node.until(lambda: not path.exists())
        await bare_node.for_seconds(8)
        assert not bare_node.stopped()


async def test_an_intent_that_names_no_container_of_the_agents_stops_nothing(bare_node: AgentNode) -> None:
    pod = two_containers()
    _app, other = bare_node.run(pod)
    folder = bare_node.folder / "intents"
    folder.mkdir()
    write_nobodys_intent(folder / f"{other}.json", other)
    (folder / "b.json").write_text("{")
    async with bare_node.an_agent():
        await bare_node.until(lambda: not list(folder.iterdir()))
        await bare_node.for_seconds(8)
        assert not bare_node.stopped()
        assert b"probelet_agent_kills_resumed_total 0\n" in bare_node.agent.view.metrics()


async def test_an_intent_that_is_dropped_holds_up_no_other(bare_node: AgentNode) -> None:
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.held_commands["hook",] = asyncio.Event()
    app, other = bare_node.run(two_containers())
    async with bare_node.an_agent():
        await bare_node.until(lambda: hooks(bare_node))
    bare_node.runtime.held_commands.clear()
    write_nobodys_intent(bare_node.folder / "intents" / "0.json", other)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.stopped)
        assert [stopped for stopped, _ in bare_node.stopped()] == [app]
        assert b"probelet_agent_kills_resumed_total 1\n" in bare_node.agent.view.metrics()


def write_nobodys_intent(path: Path, container_id: str) -> None:
    """Leaves the intent of a kill in a pod that is not there."""
    known = {"namespace": "default", "name": "web", "grace_seconds": 30, "grace_source": "pod", "deadline_ms": 0}
    whose = {"pod_uid": "nobodys", "container": "other", "container_id": f"scripted://{container_id}"}
    path.write_text(json.dumps({**known, **whose, "reason": "LivenessProbe"}))


def hooks(bare_node: AgentNode) -> int:
    return sum(list(call.cmd) == ["hook"] for call in bare_node.runtime.called("exec_sync"))
