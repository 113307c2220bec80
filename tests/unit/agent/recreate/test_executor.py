"""Requests that go as they should: what happens to containers, statuses and events."""

import asyncio

import pytest
from probelet.beside.guard.names import UNREADY_ACQUIRED
from probelet.runtime.cri.v1 import api_pb2

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


async def test_from_a_request_to_its_completion_for_a_pod_that_was_not_taken_over(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    request(node, pod, {"app": app})
    await node.until(lambda: node.runtime.containers[app].state == api_pb2.CONTAINER_EXITED)
    assert node.events("Killing") == ["Stopping container app by ContainerRecreateRequest again"]
    await node.until(lambda: states(node) == {"app": {"phase": "Recreating", "isKilled": True}})
    assert phase(node) == "Recreating"
    second = node.restart(pod)
    observe(node, pod, "app")
    await node.until(lambda: phase(node) == "Completed")
    assert states(node) == {"app": {"phase": "Succeeded", "isKilled": True}}
    assert status(node)["completionTime"].endswith("Z")
    assert [id for id, _ in node.stopped()] == [app]
    assert node.runtime.containers[second].state == api_pb2.CONTAINER_RUNNING


async def test_t20_a_pod_that_was_taken_over_is_probed_on_after_the_request(node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}})
    (app,) = node.run(pod)
    await node.until(lambda: node.is_ready())
    request(node, pod, {"app": app})
    await node.until(lambda: states(node) == KILLED and node.stopped())
    node.restart(pod)
    observe(node, pod, "app")
    await node.until(lambda: phase(node) == "Completed" and node.is_ready())
    assert [id for id, _ in node.stopped()] == [app]


async def test_t20_an_instance_that_was_replaced_before_is_not_killed(node: AgentNode) -> None:
    pod = plain_pod()
    node.run(pod)
    request(node, pod, {"app": "older"})
    await node.until(lambda: states(node) == KILLED)
    observe(node, pod, "app")
    await node.until(lambda: phase(node) == "Completed")
    assert not node.stopped()


async def test_t20_a_forced_request_kills_a_new_instance_too_and_once(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    request(node, pod, {"app": "older"}, strategy={"forceRecreate": True})
    await node.until(lambda: states(node) == KILLED and node.stopped())
    node.restart(pod)
    observe(node, pod, "app")
    await node.until(lambda: phase(node) == "Completed")
    assert [id for id, _ in node.stopped()] == [app]


async def test_t20_a_container_that_is_not_on_the_node_is_said(node: AgentNode) -> None:
    pod = plain_pod("app", "side")
    node.create(pod)
    app = node.kubelet.start(pod, "app")
    node.write_status(pod)
    request(node, pod, {"side": "gone", "app": app})
    await node.until(lambda: states(node).get("side") == {"phase": "Pending", "message": "not found container on Node"})
    await node.for_seconds(3)
    assert not node.stopped(), "REAL's row: the one before stops the row"


async def test_t22_ordered_containers_wait_for_the_one_before(node: AgentNode) -> None:
    pod = plain_pod("app", "side")
    app, side = node.run(pod)
    request(node, pod, {"app": app, "side": side}, strategy={"orderedRecreate": True})
    await node.until(lambda: states(node).get("app") == KILLED["app"] and node.stopped())
    await node.for_seconds(5)
    node.restart(pod)
    await node.for_seconds(5)
    assert [id for id, _ in node.stopped()] == [app]
    observe(node, pod, "app")
    await node.until(lambda: len(node.stopped()) == 2)
    node.restart(pod, "side")
    observe(node, pod, "app", "side")
    await node.until(lambda: phase(node) == "Completed")


async def test_t23_unordered_kills_follow_one_another(node: AgentNode) -> None:
    pod = plain_pod("app", "side", hooks=True)
    app, side = node.run(pod)
    node.runtime.held["exec_sync"] = asyncio.Event()
    request(node, pod, {"app": app, "side": side})
    await node.until(lambda: hooks(node) == 1)
    await node.for_seconds(8)
    assert not node.stopped(), "the hook of the first one runs"
    node.runtime.held.pop("exec_sync").set()
    await node.until(lambda: len(node.stopped()) == 2)
    assert [id for id, _ in node.stopped()] == [app, side]


async def test_t24_a_hook_longer_than_the_grace_is_left_and_the_stop_has_two_seconds(node: AgentNode) -> None:
    pod = plain_pod(hooks=True)
    (app,) = node.run(pod)
    node.runtime.held["exec_sync"] = asyncio.Event()
    request(node, pod, {"app": app}, strategy={"terminationGracePeriodSeconds": 5})
    await node.until(node.stopped)
    assert node.stopped() == [(app, 2)]
    assert hooks(node) == 1
    node.runtime.held.pop("exec_sync").set()


async def test_t25_a_grace_of_zero_runs_no_hook_and_stops_within_two_seconds(node: AgentNode) -> None:
    pod = plain_pod(hooks=True)
    (app,) = node.run(pod)
    request(node, pod, {"app": app}, strategy={"terminationGracePeriodSeconds": 0})
    await node.until(node.stopped)
    assert node.stopped() == [(app, 2)]
    assert hooks(node) == 0


async def test_without_a_grace_the_pods_own_counts(node: AgentNode) -> None:
    pod = plain_pod(terminationGracePeriodSeconds=17)
    (app,) = node.run(pod)
    request(node, pod, {"app": app}, strategy={"terminationGracePeriodSeconds": None})
    await node.until(node.stopped)
    [(stopped, grace)] = node.stopped()
    assert (stopped, 8 <= grace <= 17) == (app, True)


async def test_t26_c1_the_second_request_of_a_pod_waits_and_goes_on_when_the_first_is_over(node: AgentNode) -> None:
    pod = plain_pod("app", "side")
    app, side = node.run(pod)
    request(node, pod, {"app": app}, name="first")
    await node.until(lambda: phase(node, "first") == "Recreating")
    request(node, pod, {"side": side}, name="second")
    await node.until(lambda: phase(node, "second") == "Pending" and node.stopped())
    node.restart(pod)
    observe(node, pod, "app", name="first")
    await node.until(lambda: len(node.stopped()) == 2)
    assert phase(node, "first") == "Completed"
    assert phase(node, "second") == "Recreating"


@pytest.mark.parametrize("how", ["deleted", "completed"])
async def test_c1_a_request_that_leaves_without_an_end_of_its_own_frees_the_pod(node: AgentNode, how: str) -> None:
    pod = plain_pod("app", "side")
    app, side = node.run(pod)
    request(node, pod, {"app": app}, name="first")
    await node.until(lambda: states(node, "first") == KILLED)
    request(node, pod, {"side": side}, name="second")
    await node.until(lambda: phase(node, "second") == "Pending")
    if how == "deleted":
        node.api.remove(KIND, "first", "default")
    else:
        patch_status(node, "first", phase="Completed", completionTime="2026-11-22T23:00:00Z")
    await node.until(lambda: len(node.stopped()) == 2)


async def test_the_unready_grace_keeps_the_container_until_it_is_over(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    made = request(node, pod, {"app": app}, strategy={"unreadyGracePeriodSeconds": 10})
    await node.until(lambda: phase(node) == "Recreating")
    await node.for_seconds(5)
    assert not node.stopped(), "the manager has not taken the pod out of service yet"
    found = node.api.get(KIND, made["metadata"]["name"], "default")
    assert found is not None
    noted = {**found["metadata"], "annotations": {UNREADY_ACQUIRED: "2026-11-22T23:00:00Z"}}
    node.api.put(KIND, {**found, "metadata": noted})
    await node.for_seconds(2)
    assert not node.stopped()
    await node.until(node.stopped)


async def test_the_run_time_that_was_asked_for_is_waited_for(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    request(node, pod, {"app": app}, strategy={"minStartedSeconds": 10})
    await node.until(node.stopped)
    node.restart(pod)
    observe(node, pod, "app")
    await node.for_seconds(3)
    assert phase(node) == "Recreating"
    await node.until(lambda: phase(node) == "Completed")


async def test_the_counts_are_on_the_page(node: AgentNode) -> None:
    pod = plain_pod()
    (app,) = node.run(pod)
    request(node, pod, {"app": app})
    await node.until(node.stopped)
    node.restart(pod)
    observe(node, pod, "app")
    await node.until(lambda: phase(node) == "Completed")
    # The new container completes the request; the stop of the old one and the server's answer may come a moment later.
    killed = 'probelet_agent_kills_total{reason="recreate_request",end="ended"} 1'
    succeeded = 'probelet_elp_recreate_requests_total{result="succeeded"} 1'
    await node.until(lambda: {killed, succeeded} <= set(node.agent.view.metrics().decode().splitlines()))
    page = node.agent.view.metrics().decode()
    assert 'probelet_elp_recreate_requests_total{result="failed"} 0' in page
