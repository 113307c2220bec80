"""A kill: its hook, its grace, its end, and what keeps it from being one too many."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.text.duration import SECOND

from tests.support.web import Reply, Request, Server
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
HOOK: dict[str, Any] = {"lifecycle": {"preStop": {"exec": {"command": ["hook"]}}}}
HOOKED: list[dict[str, Any]] = [{"name": "app", "image": "i", **HOOK}]


def failing(node: AgentNode) -> None:
    node.runtime.exec_answers["probe",] = FAILS


def hold_hooks(node: AgentNode) -> asyncio.Event:
    """Lets every hook run until the event is set."""
    return node.runtime.held_commands.setdefault(("hook",), asyncio.Event())


def hooks(node: AgentNode) -> int:
    return sum(list(call.cmd) == ["hook"] for call in node.runtime.called("exec_sync"))


def intents(node: AgentNode) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((node.folder / "intents").glob("*.json"))]


@pytest.mark.parametrize(
    ("probe", "pod", "grace"),
    [
        ({"terminationGracePeriodSeconds": 17}, {}, range(8, 18)),
        ({}, {}, range(20, 31)),
        ({}, {"terminationGracePeriodSeconds": 0}, range(2, 3)),
        ({"terminationGracePeriodSeconds": 1}, {}, range(2, 3)),
    ],
)
async def test_the_grace_is_the_probes_or_the_pods_and_at_least_two_seconds(
    node: AgentNode, probe: dict[str, Any], pod: dict[str, Any], grace: range
) -> None:
    failing(node)
    (app,) = node.run(made_pod({"app": {"livenessProbe": {**EXEC, **probe}}}, **pod))
    await node.until(node.stopped)
    ((stopped, asked),) = node.stopped()
    assert stopped == app
    assert asked in grace, "a machine that is busy takes some of it"


async def test_a_failed_startup_probe_kills_too(node: AgentNode) -> None:
    failing(node)
    (app,) = node.run(made_pod({"app": {"startupProbe": EXEC}}))
    await node.until(lambda: node.stopped() and node.events("Killing"))
    assert [id for id, _ in node.stopped()] == [app]
    assert node.events("Killing") == ["Container app failed startup probe, will be restarted"]
    assert not node.is_ready()


async def test_a_sidecar_is_killed_with_the_words_for_init_containers(node: AgentNode) -> None:
    failing(node)
    sidecar = {"name": "side", "image": "i", "restartPolicy": "Always"}
    pod = made_pod({"side": {"livenessProbe": EXEC}}, initContainers=[sidecar])
    node.create(pod)
    side, _ = node.kubelet.start(pod, "side"), node.kubelet.start(pod)
    node.write_status(pod)
    await node.until(lambda: node.stopped() and node.events("Killing"))
    assert [id for id, _ in node.stopped()] == [side]
    assert node.events("Killing") == ["Init container side failed liveness probe"]


async def test_the_hook_runs_within_the_grace_and_the_stop_gets_the_rest(node: AgentNode) -> None:
    failing(node)
    over = hold_hooks(node)
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED)
    node.run(pod)
    await node.until(lambda: hooks(node))
    await node.for_seconds(10)
    assert not node.stopped()
    over.set()
    await node.until(node.stopped)
    ((_, grace),) = node.stopped()
    assert 2 <= grace <= 20
    assert hooks(node) == 1


async def test_a_hook_that_outlasts_the_grace_stops_the_container_all_the_same(node: AgentNode) -> None:
    failing(node)
    hold_hooks(node)
    pod = made_pod({"app": {"livenessProbe": {**EXEC, "terminationGracePeriodSeconds": 3}}}, containers=HOOKED)
    node.run(pod)
    await node.until(node.stopped)
    assert [grace for _, grace in node.stopped()] == [2]


@pytest.mark.parametrize(("grace", "ran"), [(0, 0), (1, 1)])
async def test_a_pod_without_a_grace_has_no_time_for_a_hook(node: AgentNode, grace: int, ran: int) -> None:
    failing(node)
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED, terminationGracePeriodSeconds=grace)
    node.run(pod)
    await node.until(node.stopped)
    assert ([asked for _, asked in node.stopped()], hooks(node)) == ([2], ran)


async def test_a_hook_that_fails_is_an_event_and_no_reason_to_wait(node: AgentNode) -> None:
    failing(node)
    node.runtime.exec_answers["hook",] = api_pb2.ExecSyncResponse(exit_code=3, stderr=b"secret")
    node.run(made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED))
    await node.until(lambda: node.stopped() and node.events("FailedPreStopHook"))
    assert node.events("FailedPreStopHook") == ["PreStopHook failed"]


async def test_an_http_hook_asks_the_sandboxs_address(node: AgentNode) -> None:
    def answer(_: Request) -> Reply:
        return 200, {}, ""

    failing(node)
    with Server(answer) as web:
        hook = {"lifecycle": {"preStop": {"httpGet": {"path": "/bye", "port": web.port}}}}
        node.run(made_pod({"app": {"livenessProbe": EXEC}}, containers=[{"name": "app", "image": "i", **hook}]))
        await node.until(node.stopped)
        assert [request.path for request in web.requests] == ["/bye"]


async def test_a_sleep_hook_sleeps_on_the_agents_clock(node: AgentNode) -> None:
    failing(node)
    hook = {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}
    node.run(made_pod({"app": {"livenessProbe": EXEC}}, containers=[{"name": "app", "image": "i", **hook}]))
    await node.until(node.stopped)
    assert 2 <= node.stopped()[0][1] <= 25


async def test_the_kubelets_kill_takes_over_when_the_pod_terminates_during_the_hook(node: AgentNode) -> None:
    failing(node)
    hold_hooks(node)
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED)
    node.run(pod)
    await node.until(lambda: hooks(node))
    node.terminate(pod)
    await node.until(lambda: not intents(node))
    await node.for_seconds(40)
    assert not node.stopped()
    assert hooks(node) == 1


async def test_a_pod_that_terminates_is_not_killed_at_all(node: AgentNode) -> None:
    pod = made_pod({"app": {"livenessProbe": EXEC}})
    node.run(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.terminate(pod)
    await node.until(lambda: node.agent.pods.by_uid[pod["metadata"]["uid"]].terminating.is_set())
    failing(node)
    await node.for_seconds(10)
    assert not node.stopped()


async def test_nothing_is_stopped_once_the_failed_instance_has_ended_by_itself(node: AgentNode) -> None:
    failing(node)
    over = hold_hooks(node)
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED)
    (first,) = node.run(pod)
    await node.until(lambda: hooks(node))
    node.runtime.exit(first, 0)
    node.runtime.exec_answers.clear()
    second = node.restart(pod)
    over.set()
    await node.until(lambda: not intents(node))
    await node.for_seconds(5)
    assert not node.stopped()
    assert node.runtime.containers[second].state == api_pb2.CONTAINER_RUNNING


async def test_a_runtime_that_does_not_answer_is_asked_again_and_nothing_is_stopped_meanwhile(node: AgentNode) -> None:
    (app,) = node.run(made_pod({"app": {"livenessProbe": EXEC}}))
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.runtime.refuse["container_status"] = errors.RuntimeUnavailable("connection refused")
    failing(node)
    await node.until(lambda: intents(node))
    await node.for_seconds(25)
    assert not node.stopped(), "nobody has said that this instance still runs"
    node.runtime.refuse.clear()
    await node.until(node.stopped)
    assert node.stopped() == [(app, 2)], "half a minute is over"


async def test_a_hook_waits_for_a_runtime_that_is_away_and_runs_once_with_the_whole_grace(node: AgentNode) -> None:
    (app,) = node.run(made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED))
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.runtime.refuse["container_status"] = errors.RuntimeUnavailable("connection refused")
    failing(node)
    await node.until(lambda: intents(node))
    await node.for_seconds(40)
    assert not hooks(node), "the runtime could not run it"
    assert not node.stopped()
    over = hold_hooks(node)
    (waiting,) = intents(node)
    node.runtime.refuse.clear()
    await node.until(lambda: hooks(node))
    (begun,) = intents(node)
    later_ms = begun["deadline_ms"] - waiting["deadline_ms"]
    assert 40_000 <= later_ms < 3_600_000, "the next agent has the whole grace too"
    over.set()
    await node.until(lambda: not intents(node))
    ((stopped, grace),) = node.stopped()
    assert (stopped, hooks(node)) == (app, 1)
    assert 20 <= grace <= 30


async def test_a_hook_that_waits_for_the_runtime_is_the_kubelets_once_the_pod_terminates(node: AgentNode) -> None:
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED)
    node.run(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.runtime.refuse["container_status"] = errors.RuntimeUnavailable("connection refused")
    failing(node)
    await node.until(lambda: intents(node))
    node.terminate(pod)
    await node.until(lambda: not intents(node))
    node.runtime.refuse.clear()
    await node.for_seconds(20)
    assert not hooks(node)
    assert not node.stopped()


async def test_a_stop_that_fails_is_repeated_without_a_second_hook_or_event(node: AgentNode) -> None:
    failing(node)
    node.runtime.refuse["stop_container"] = errors.DeadlineExceeded("context deadline exceeded")
    node.run(made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED))
    moments = []
    for times in (1, 2, 3):
        await node.until(lambda times=times: len(node.stopped()) == times)
        moments.append(node.agent.host.engine.now())
    assert min(after - before for before, after in pairwise(moments)) > 9 * SECOND, "a kubelet's sync comes after ten"
    node.runtime.refuse.clear()
    await node.until(lambda: not intents(node))
    graces = [grace for _, grace in node.stopped()]
    assert graces == sorted(graces, reverse=True)
    assert graces[-1] == 2
    assert hooks(node) == 1
    assert node.events("Killing") == ["Container app failed liveness probe, will be restarted"]


async def test_the_intent_is_on_disk_before_the_hook_and_gone_after_the_end(node: AgentNode) -> None:
    failing(node)
    over = hold_hooks(node)
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=HOOKED)
    (app,) = node.run(pod)
    await node.until(lambda: hooks(node))
    (kept,) = intents(node)
    assert kept | {"deadline_ms": 0} == {
        "schema": "probelet-intent/1",
        "pod_uid": pod["metadata"]["uid"],
        "namespace": "default",
        "name": "web",
        "container": "app",
        "container_id": f"scripted://{app}",
        "reason": "LivenessProbe",
        "grace_seconds": 30,
        "grace_source": "pod",
        "deadline_ms": 0,
        "hook_begun": True,
        "hook_ended": False,
    }
    (path,) = (node.folder / "intents").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    over.set()
    await node.until(lambda: not intents(node))
    assert len(node.stopped()) == 1


async def test_a_full_disk_stops_no_kill(node: AgentNode, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("probelet.base.files.below.open_to_replace", full)
    failing(node)
    (app,) = node.run(made_pod({"app": {"livenessProbe": EXEC}}))
    await node.until(node.stopped)
    assert [id for id, _ in node.stopped()] == [app]
    assert Path(node.folder / "intents").exists() is False
