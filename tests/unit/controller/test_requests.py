"""The management of requests on an API server: their ends, snapshots, pods out of service, collection."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from probelet.beside.guard.names import ACTIVE, NODE_NAME, POD_UID, SNAPSHOT, UNREADY_ACQUIRED
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS as KIND
from probelet.kube.kinds import PODS

from tests.support.kube_api import Answer
from tests.unit.controller.world import Running, World

RECREATING = {"phase": "Recreating"}
DONE = {"phase": "Completed", "completionTime": "2026-11-19T00:00:00Z"}


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    async with World() as world:
        world.node("node-1")
        yield world


@pytest_asyncio.fixture
async def controller(world: World) -> Running:
    return await world.ready(await world.controller())


def request(world: World, pod: Any, *, status: Any = None, **spec: Any) -> None:
    """A user's request for the container app of a pod, as the admission leaves it."""
    labels = {ACTIVE: "true", NODE_NAME: "node-1", POD_UID: pod["metadata"]["uid"]}
    context = {"containerID": "containerd://web-0-0", "restartCount": 0}
    made = {
        "metadata": {"name": "again", "namespace": "default", "labels": labels},
        "spec": {"podName": "web-0", "containers": [{"name": "app", "statusContext": context}], **spec},
    }
    world.api.put(KIND, made)
    if status is not None:
        world.set_status(KIND, "again", status)


def found(world: World) -> Any:
    return world.api.get(KIND, "again", "default")


def is_active(world: World) -> bool:
    return ACTIVE in found(world)["metadata"]["labels"]


def status(world: World) -> Any:
    return (found(world) or {}).get("status") or {}


async def test_a_request_that_no_node_answers_ends_after_a_minute_and_loses_its_label(
    world: World, controller: Running
) -> None:
    request(world, world.pod("web-0"))
    await world.pass_seconds(55)
    assert status(world) == {}
    await world.until(lambda: status(world).get("phase") == "Completed")
    assert status(world)["message"] == "daemon has not responded for a long time"
    await world.until(lambda: not is_active(world))
    assert controller.count('probelet_elp_recreate_requests_given_up_total{reason="NotAnswered"}') == 1


async def test_c2_the_deadline_ends_a_request_with_failed_states(world: World, controller: Running) -> None:
    states = [{"name": "app", "phase": "Recreating", "isKilled": True}]
    running = {**RECREATING, "containerRecreateStates": states}
    request(world, world.pod("web-0"), status=running, activeDeadlineSeconds=30)
    await world.until(lambda: status(world).get("phase") == "Completed")
    assert status(world)["message"] == "recreating has exceeded the activeDeadlineSeconds"
    assert status(world)["containerRecreateStates"] == [{"name": "app", "phase": "Failed", "isKilled": True}]


async def test_t29_a_request_ends_when_its_pod_goes(world: World, controller: Running) -> None:
    request(world, world.pod("web-0"), status=RECREATING)
    await world.pass_seconds(5)
    world.api.remove(PODS, "web-0", "default")
    await world.until(lambda: status(world).get("message") == "pod has gone")


async def test_the_snapshot_follows_the_new_container(world: World, controller: Running) -> None:
    request(world, world.pod("web-0"), status=RECREATING)
    await world.pass_seconds(4)
    assert SNAPSHOT not in found(world)["metadata"].get("annotations", {})
    world.pod("web-0", restarts=1, ready=False)
    await world.until(lambda: SNAPSHOT in found(world)["metadata"].get("annotations", {}))
    world.pod("web-0", restarts=1)
    await world.until(lambda: json.loads(found(world)["metadata"]["annotations"][SNAPSHOT])[0]["ready"])
    [row] = json.loads(found(world)["metadata"]["annotations"][SNAPSHOT])
    assert row == {"name": "app", "ready": True, "restartCount": 1, "containerID": "containerd://web-0-1"}


async def test_a_pod_that_nobody_opted_in_is_managed_too(world: World, controller: Running) -> None:
    pod = world.pod("web-0")
    world.api.put(PODS, {**pod, "metadata": {**pod["metadata"], "annotations": {}}})
    request(world, pod, status=RECREATING)
    world.set_status(PODS, "web-0", restarted(pod))
    await world.until(lambda: SNAPSHOT in found(world)["metadata"].get("annotations", {}))


def restarted(pod: Any) -> Any:
    [row] = pod["status"]["containerStatuses"]
    return {**pod["status"], "containerStatuses": [{**row, "containerID": "containerd://new", "restartCount": 1}]}


async def test_the_ttl_deletes_a_request_and_none_keeps_it(world: World, controller: Running) -> None:
    pod = world.pod("web-0")
    request(world, pod, status={**DONE, "completionTime": world.at()}, ttlSecondsAfterFinished=5)
    await world.until(lambda: found(world) is None)
    request(world, pod, status=DONE)
    await world.until(lambda: not is_active(world))
    await world.pass_seconds(60)
    assert found(world) is not None


async def test_a_pod_with_the_gate_is_out_of_service_until_the_request_is_over(
    world: World, controller: Running
) -> None:
    pod = world.pod("web-0")
    gated = {**pod["spec"], "readinessGates": [{"conditionType": "KruisePodReady"}]}
    pod = world.api.put(PODS, {**pod, "spec": gated})
    request(world, pod, status=RECREATING, strategy={"unreadyGracePeriodSeconds": 3})
    await world.until(lambda: UNREADY_ACQUIRED in found(world)["metadata"].get("annotations", {}))
    assert found(world)["metadata"].get("finalizers", []) == [], "it would keep its kind from being deleted"
    assert conditions(world)["KruisePodReady"]["status"] == "False"
    assert conditions(world)["Ready"]["status"] == "False"
    noted = found(world)["metadata"]["annotations"][UNREADY_ACQUIRED]
    await world.pass_seconds(15)
    assert found(world)["metadata"]["annotations"][UNREADY_ACQUIRED] == noted, "the time is never moved"
    world.set_status(KIND, "again", DONE)
    await world.until(lambda: not is_active(world))
    assert found(world)["metadata"].get("finalizers", []) == []
    assert conditions(world)["KruisePodReady"] | {"lastTransitionTime": ""} == {
        "type": "KruisePodReady",
        "status": "True",
        "message": "[]",
        "lastTransitionTime": "",
    }


async def out_of_service(world: World) -> None:
    """A request has taken its pod out of service."""
    pod = world.pod("web-0")
    pod = world.api.put(PODS, {**pod, "spec": {**pod["spec"], "readinessGates": [{"conditionType": "KruisePodReady"}]}})
    request(world, pod, status=RECREATING, strategy={"unreadyGracePeriodSeconds": 3})
    await world.until(lambda: UNREADY_ACQUIRED in found(world)["metadata"].get("annotations", {}))
    assert conditions(world)["KruisePodReady"]["status"] == "False"


async def test_a_request_that_somebody_deletes_leaves_no_pod_out_of_service(world: World, controller: Running) -> None:
    await out_of_service(world)
    world.api.remove(KIND, "again", "default")
    await world.until(lambda: conditions(world)["KruisePodReady"]["status"] == "True")


async def test_the_next_leader_puts_a_pod_back_whose_request_went_meanwhile(world: World) -> None:
    first = await world.controller()
    await world.ready(first)
    await out_of_service(world)
    await first.stop()
    world.api.remove(KIND, "again", "default")
    await world.pass_seconds(10)
    assert conditions(world)["KruisePodReady"]["status"] == "False"
    await world.ready(await world.controller())
    await world.until(lambda: conditions(world)["KruisePodReady"]["status"] == "True")


async def test_a_pod_whose_request_goes_on_and_one_that_others_keep_out_stay_so(
    world: World, controller: Running
) -> None:
    await out_of_service(world)
    other = world.pod("other-0")
    message = '[{"userAgent":"InplaceUpdate","key":"default/gone"}]'
    condition = {"type": "KruisePodReady", "status": "False", "message": message}
    world.set_status(PODS, "other-0", {**other["status"], "conditions": [condition]})
    await world.pass_seconds(30)
    assert conditions(world)["KruisePodReady"]["status"] == "False"
    kept = world.api.get(PODS, "other-0", "default")
    assert kept is not None
    assert kept["status"]["conditions"] == [condition]


async def test_a_later_request_of_the_same_name_for_another_pod_keeps_none_out_of_service(
    world: World, controller: Running
) -> None:
    await out_of_service(world)
    world.api.remove(KIND, "again", "default")
    request(world, world.pod("other-0"), status=RECREATING)
    await world.until(lambda: conditions(world)["KruisePodReady"]["status"] == "True")


async def test_a_write_that_fails_is_tried_again(world: World, controller: Running) -> None:
    await out_of_service(world)
    world.api.faults.add(Answer(500), "patch", "pods", times=3)
    world.api.remove(KIND, "again", "default")
    await world.until(lambda: conditions(world)["KruisePodReady"]["status"] == "True")


def conditions(world: World) -> Any:
    pod = world.api.get(PODS, "web-0", "default")
    assert pod is not None
    return {each["type"]: each for each in pod["status"]["conditions"]}


async def test_conflicts_and_errors_lose_nothing(world: World, controller: Running) -> None:
    world.api.faults.add(Answer(409, reason="Conflict"), "patch", "containerrecreaterequests", times=3)
    world.api.faults.add(Answer(500), "patch", "containerrecreaterequests", times=2)
    request(world, world.pod("web-0"), status={**DONE, "completionTime": world.at()}, ttlSecondsAfterFinished=5)
    await world.until(lambda: found(world) is None)


async def test_beside_openkruise_its_manager_does_it(world: World) -> None:
    await world.ready(await world.controller(manages_requests=False))
    request(world, world.pod("web-0"))
    await world.pass_seconds(70)
    assert status(world) == {}
    assert is_active(world)
