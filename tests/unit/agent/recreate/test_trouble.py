"""Requests that do not go as they should: runtimes that fail or hang, pods that go, an API server that is away."""

import asyncio
import json

import pytest
from probelet.beside.guard.names import NODE_NAME, POD_UID
from probelet.kube.kinds import PODS
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

from tests.support.kube_api import Answer
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.recreate.requests import (
    KIND,
    hooks,
    observe,
    patch_status,
    phase,
    plain_pod,
    request,
    states,
    status,
)
from tests.unit.agent.scripted_agent import AgentNode

KILLED = {"app": {"phase": "Recreating", "isKilled": True}}
BROKEN = errors.CriError("StopContainer: Unknown: shim is gone")


# T-21: kills that fail.


async def test_t21_a_kill_that_fails_until_its_time_is_over_fails_the_request(node: AgentNode) -> None:
    pod = plain_pod("app", "side")
    app, side = node.run(pod)
    node.runtime.refuse["stop_container"] = BROKEN
    request(node, pod, {"app": app, "side": side}, strategy={"terminationGracePeriodSeconds": 5})
    await node.until(lambda: phase(node) == "Completed")
    found = states(node)
    assert found["app"]["phase"] == "Failed"
    assert found["app"]["message"].startswith("kill container error: ")
    assert "shim is gone" in found["app"]["message"]
    assert found["side"] == {"phase": "Pending"}
    assert {id for id, _ in node.stopped()} == {app}
    assert not list((node.folder / "intents").glob("*.json"))


async def test_t21_with_ignore_the_next_container_is_killed(node: AgentNode) -> None:
    pod = plain_pod("app", "side")
    app, side = node.run(pod)
    node.runtime.refuse["stop_container"] = BROKEN
    strategy = {"terminationGracePeriodSeconds": 2, "failurePolicy": "Ignore"}
    request(node, pod, {"app": app, "side": side}, strategy=strategy)
    await node.until(lambda: states(node).get("app", {}).get("phase") == "Failed")
    node.runtime.refuse.clear()
    await node.until(lambda: node.runtime.containers[side].state == api_pb2.CONTAINER_EXITED)
    assert node.runtime.containers[app].state == api_pb2.CONTAINER_RUNNING
    node.restart(pod, "side")
    observe(node, pod, "side")
    await node.until(lambda: phase(node) == "Completed")


async def test_a_stop_that_fails_once_is_repeated_within_the_grace(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    node.runtime.refuse["stop_container"] = BROKEN
    request(node, pod, {"app": app})
    await node.until(node.stopped)
    node.runtime.refuse.clear()
    await node.until(lambda: node.runtime.containers[app].state == api_pb2.CONTAINER_EXITED)
    assert states(node) == KILLED


async def test_c4_a_stop_that_hangs_ends_after_its_time_and_holds_up_no_other_pod(node: AgentNode) -> None:
    hanging, other = plain_pod(name="hanging"), plain_pod(name="other", uid="uid-other")
    (app,) = node.run(hanging)
    node.runtime.held["stop_container"] = asyncio.Event()
    request(node, hanging, {"app": app}, name="one", strategy={"terminationGracePeriodSeconds": 20})
    await node.until(node.stopped)
    held = node.runtime.held.pop("stop_container")
    (second,) = node.run(other)
    request(node, other, {"app": second}, name="two")
    await node.until(lambda: node.runtime.containers[second].state == api_pb2.CONTAINER_EXITED)
    assert phase(node, "one") == "Recreating"
    await node.until(lambda: phase(node, "one") == "Completed")
    assert states(node, "one")["app"]["message"] == "kill container error: the container has not ended within 30 s"
    held.set()


async def test_a_runtime_that_does_not_say_what_a_container_is_fails_the_kill(node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}})
    (app,) = node.run(pod)
    await node.until(lambda: node.is_ready())
    # The agent knows the container, but nothing says which hook it has.
    node.runtime.refuse["container_status"] = errors.RuntimeUnavailable("connection refused")
    request(node, pod, {"app": app})
    await node.until(lambda: phase(node) == "Completed")
    assert "connection refused" in states(node)["app"]["message"]
    assert not node.stopped()


# T-28, T-29: what ends in the middle.


async def test_t28_a_deadline_in_the_middle_of_a_kill_begins_no_other_one(node: AgentNode) -> None:
    pod = plain_pod("app", "side", hooks=True)
    app, side = node.run(pod)
    node.runtime.held["exec_sync"] = asyncio.Event()
    request(node, pod, {"app": app, "side": side}, activeDeadlineSeconds=3)
    await node.until(lambda: phase(node) == "Completed")
    assert status(node)["message"] == "recreating has exceeded the activeDeadlineSeconds"
    assert {name: found["phase"] for name, found in states(node).items()} == {"app": "Failed", "side": "Failed"}
    node.runtime.held.pop("exec_sync").set()
    await node.until(node.stopped)
    await node.for_seconds(8)
    assert [id for id, _ in node.stopped()] == [app], "the kill that had begun ends; no other one begins"
    assert phase(node) == "Completed"


async def test_t28_c2_a_request_that_the_manager_completed_gets_no_further_kill_and_no_status(node: AgentNode) -> None:
    pod = plain_pod("app", "side", hooks=True)
    app, side = node.run(pod)
    node.runtime.held["exec_sync"] = asyncio.Event()
    request(node, pod, {"app": app, "side": side})
    await node.until(lambda: states(node).get("app") == KILLED["app"])
    failed = [{"name": name, "phase": "Failed"} for name in ("app", "side")]
    done = {"phase": "Completed", "completionTime": "2026-11-22T23:00:00Z", "containerRecreateStates": failed}
    patch_status(node, **done)
    node.runtime.held.pop("exec_sync").set()
    await node.until(node.stopped)
    await node.for_seconds(8)
    assert [id for id, _ in node.stopped()] == [app]
    assert status(node) == done


async def test_t29_a_pod_that_is_replaced_in_the_middle_of_a_kill_is_left_to_the_kubelet(node: AgentNode) -> None:
    pod = plain_pod(hooks=True)
    (app,) = node.run(pod)
    node.runtime.held["exec_sync"] = asyncio.Event()
    request(node, pod, {"app": app})
    await node.until(lambda: hooks(node) == 1)
    node.kubelet.remove(pod)
    node.api.remove(PODS, "web", "default")
    again = plain_pod()
    (second,) = node.run(again)
    node.runtime.held.pop("exec_sync").set()
    await node.for_seconds(8)
    assert not node.stopped()
    assert node.runtime.containers[second].state == api_pb2.CONTAINER_RUNNING
    assert not list((node.folder / "intents").glob("*.json"))


async def test_a_pod_that_terminates_gets_no_kill(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    node.terminate(pod)
    request(node, pod, {"app": app})
    await node.for_seconds(8)
    assert not node.stopped()
    assert phase(node) == ""


@pytest.mark.parametrize("removed", [False, True])
async def test_a_container_that_ended_unseen_gets_no_hook_and_no_event(node: AgentNode, removed: bool) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}}, containers=[{"name": "app", "image": "i", **HOOK}])
    (app,) = node.run(pod)
    await node.until(lambda: node.is_ready())
    node.runtime.held["container_status"] = asyncio.Event()
    before = len(node.runtime.called("container_status"))
    request(node, pod, {"app": app})
    await node.until(lambda: len(node.runtime.called("container_status")) > before)
    if removed:
        del node.runtime.containers[app]
    else:
        node.runtime.exit(app, 0, say=False)
    node.runtime.held.pop("container_status").set()
    await node.for_seconds(3)
    assert not node.stopped()
    assert hooks(node) == 0
    assert node.events("Killing") == []
    assert len(node.runtime.called("container_status")) < before + 10, "the agent does not ask on and on"


# Two reasons to kill.


@pytest.mark.parametrize("first", ["probe", "request"])
async def test_c8_a_failed_probe_and_a_request_for_one_container_make_one_kill(node: AgentNode, first: str) -> None:
    pod = made_pod({"app": {"livenessProbe": EXEC}}, containers=[{"name": "app", "image": "i", **HOOK}])
    (app,) = node.run(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.runtime.held["exec_sync"] = asyncio.Event()
    if first == "probe":
        node.runtime.held.clear()
        node.runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1)
        node.runtime.held["stop_container"] = asyncio.Event()
        await node.until(node.stopped)
        request(node, pod, {"app": app})
        await node.until(lambda: states(node) == KILLED)
    else:
        request(node, pod, {"app": app})
        await node.until(lambda: hooks(node) == 1)
        node.runtime.held.pop("exec_sync").set()
        node.runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1)
    for held in node.runtime.held.values():
        held.set()
    await node.until(lambda: node.runtime.containers[app].state == api_pb2.CONTAINER_EXITED)
    await node.for_seconds(5)
    assert [id for id, _ in node.stopped()] == [app]
    assert hooks(node) == 1
    assert len(node.events("Killing")) == 1


HOOK = {"lifecycle": {"preStop": {"exec": {"command": ["hook"]}}}}


# The API server.


async def test_f2b_a_kill_that_has_begun_ends_while_the_api_server_is_away_and_its_state_is_written_later(
    node: AgentNode,
) -> None:
    pod = plain_pod("app", "side", hooks=True)
    app, side = node.run(pod)
    node.runtime.held["exec_sync"] = asyncio.Event()
    request(node, pod, {"app": app, "side": side})
    await node.until(lambda: states(node).get("app") == KILLED["app"] and hooks(node) == 1)
    await node.api.refuse()
    await node.for_seconds(2)
    node.runtime.held.pop("exec_sync").set()
    await node.until(lambda: node.runtime.containers[app].state == api_pb2.CONTAINER_EXITED)
    await node.for_seconds(20)
    assert [id for id, _ in node.stopped()] == [app], "no further kill begins"
    await node.api.accept()
    await node.until(lambda: node.runtime.containers[side].state == api_pb2.CONTAINER_EXITED)
    await node.until(lambda: states(node).get("side", {}).get("isKilled"))


async def test_f2b_a_request_that_was_not_accepted_waits_for_the_api_server(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    node.api.faults.add(Answer(503), "patch", "containerrecreaterequests", times=5)
    request(node, pod, {"app": app})
    await node.for_seconds(5)
    assert not node.stopped()
    await node.until(node.stopped)
    assert phase(node) == "Recreating"


async def test_conflicts_with_the_manager_lose_no_state(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    node.api.faults.add(Answer(409, reason="Conflict"), "patch", "containerrecreaterequests", times=3)
    request(node, pod, {"app": app})
    await node.until(lambda: states(node) == KILLED)


async def test_a_cluster_without_the_kind_is_asked_rarely(bare_node: AgentNode) -> None:
    missing = "the server could not find the requested resource"
    bare_node.api.faults.add(
        Answer(404, reason="NotFound", message=missing), "list", "containerrecreaterequests", times=2
    )
    bare_node.api.faults.add(Answer(404, reason="NotFound", message=missing), "list", "nodepodprobes", times=None)
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.api.seen("list", "containerrecreaterequests") == 1)
        await bare_node.for_seconds(20)
        assert bare_node.api.seen("list", "containerrecreaterequests") == 1
        pod = plain_pod()
        (app,) = bare_node.run(pod)
        request(bare_node, pod, {"app": app})
        for _ in range(3):
            await bare_node.round_trip(600 * 10**9)
        await bare_node.until(lambda: phase(bare_node) == "Recreating")


# Requests that nobody may act on.


async def test_s4_a_request_that_names_a_pod_of_another_namespace_by_its_uid_reaches_no_container(
    node: AgentNode,
) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    foreign = {**pod, "metadata": {**pod["metadata"], "namespace": "other"}}
    request(node, foreign, {"app": app})
    renamed = {**pod, "metadata": {**pod["metadata"], "name": "another"}}
    request(node, renamed, {"app": app}, name="renamed")
    await node.for_seconds(8)
    assert not node.stopped()
    assert phase(node, "renamed") == ""


async def test_s1_the_hook_of_the_request_never_runs(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    made = request(node, pod, {"app": app})
    with_hook = json.loads(json.dumps(made))
    with_hook["spec"]["containers"][0]["preStop"] = {"exec": {"command": ["evil"]}}
    node.api.put(KIND, with_hook)
    await node.until(node.stopped)
    assert not [call for call in node.runtime.called("exec_sync") if list(call.cmd) == ["evil"]]


@pytest.mark.parametrize("labels", [{NODE_NAME: "worker-2"}, {"crr.apps.kruise.io/active": "no"}, {POD_UID: ""}])
async def test_a_request_with_other_labels_is_not_this_nodes(node: AgentNode, labels: dict[str, str]) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    request(node, pod, {"app": app}, labels=labels)
    await node.for_seconds(5)
    assert not node.stopped()
    assert phase(node) == ""


async def test_c9_an_agent_whose_executor_is_external_leaves_requests_alone(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(node_executor="external"):
        pod = plain_pod()
        (app,) = bare_node.run(pod)
        request(bare_node, pod, {"app": app})
        await bare_node.for_seconds(8)
        assert not bare_node.stopped()
        assert phase(bare_node) == ""
        assert bare_node.api.seen("list", "containerrecreaterequests") == 0


async def test_f9_requests_are_found_as_soon_as_the_probes_are_which_are_installed_with_them(
    bare_node: AgentNode,
) -> None:
    missing = "the server could not find the requested resource"
    for plural in ("nodepodprobes", "containerrecreaterequests"):
        bare_node.api.faults.add(Answer(404, reason="NotFound", message=missing), "list", plural, times=1)
    pod = plain_pod()
    (app,) = bare_node.run(pod)
    async with bare_node.an_agent():
        request(bare_node, pod, {"app": app})
        # The agent looks for the probes again after a minute. A request would have to wait for five.
        for _ in range(120):
            await bare_node.round_trip(10**9)
        assert states(bare_node) == KILLED
