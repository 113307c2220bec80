"""The management of requests on an API server: their ends, snapshots, pods out of service, collection."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from probelet.beside.guard.names import ACTIVE, NODE_NAME, POD_UID, SNAPSHOT, UNREADY_ACQUIRED
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS as KIND
from probelet.kube.kinds import PODS

from tests.support.kube_api import Answer
from tests.unit.controller.scripted_cluster import Running, ScriptedCluster

RECREATING = {"phase": "Recreating"}
DONE = {"phase": "Completed", "completionTime": "2026-11-19T00:00:00Z"}


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster() as cluster:
        cluster.node("node-1")
        yield cluster


@pytest_asyncio.fixture
async def controller(cluster: ScriptedCluster) -> Running:
    return await cluster.ready(await cluster.controller())


def request(cluster: ScriptedCluster, pod: Any, *, status: Any = None, **spec: Any) -> None:
    """A user's request for the container app of a pod, as the admission leaves it."""
    labels = {ACTIVE: "true", NODE_NAME: "node-1", POD_UID: pod["metadata"]["uid"]}
    context = {"containerID": "containerd://web-0-0", "restartCount": 0}
    made = {
        "metadata": {"name": "again", "namespace": "default", "labels": labels},
        "spec": {"podName": "web-0", "containers": [{"name": "app", "statusContext": context}], **spec},
    }
    cluster.api.put(KIND, made)
    if status is not None:
        cluster.set_status(KIND, "again", status)


def found(cluster: ScriptedCluster) -> Any:
    return cluster.api.get(KIND, "again", "default")


def is_active(cluster: ScriptedCluster) -> bool:
    return ACTIVE in found(cluster)["metadata"]["labels"]


def status(cluster: ScriptedCluster) -> Any:
    return (found(cluster) or {}).get("status") or {}


async def test_a_request_that_no_node_answers_ends_after_a_minute_and_loses_its_label(
    cluster: ScriptedCluster, controller: Running
) -> None:
    request(cluster, cluster.pod("web-0"))
    await cluster.pass_seconds(55)
    assert status(cluster) == {}
    await cluster.until(lambda: status(cluster).get("phase") == "Completed")
    assert status(cluster)["message"] == "daemon has not responded for a long time"
    await cluster.until(lambda: not is_active(cluster))
    assert controller.count('probelet_elp_recreate_requests_given_up_total{reason="NotAnswered"}') == 1


async def test_c2_the_deadline_ends_a_request_with_failed_states(cluster: ScriptedCluster, controller: Running) -> None:
    states = [{"name": "app", "phase": "Recreating", "isKilled": True}]
    running = {**RECREATING, "containerRecreateStates": states}
    request(cluster, cluster.pod("web-0"), status=running, activeDeadlineSeconds=30)
    await cluster.until(lambda: status(cluster).get("phase") == "Completed")
    assert status(cluster)["message"] == "recreating has exceeded the activeDeadlineSeconds"
    assert status(cluster)["containerRecreateStates"] == [{"name": "app", "phase": "Failed", "isKilled": True}]


async def test_t29_a_request_ends_when_its_pod_goes(cluster: ScriptedCluster, controller: Running) -> None:
    request(cluster, cluster.pod("web-0"), status=RECREATING)
    await cluster.pass_seconds(5)
    cluster.api.remove(PODS, "web-0", "default")
    await cluster.until(lambda: status(cluster).get("message") == "pod has gone")


async def test_the_snapshot_follows_the_new_container(cluster: ScriptedCluster, controller: Running) -> None:
    request(cluster, cluster.pod("web-0"), status=RECREATING)
    await cluster.pass_seconds(4)
    assert SNAPSHOT not in found(cluster)["metadata"].get("annotations", {})
    cluster.pod("web-0", restarts=1, ready=False)
    await cluster.until(lambda: SNAPSHOT in found(cluster)["metadata"].get("annotations", {}))
    cluster.pod("web-0", restarts=1)
    await cluster.until(lambda: json.loads(found(cluster)["metadata"]["annotations"][SNAPSHOT])[0]["ready"])
    [row] = json.loads(found(cluster)["metadata"]["annotations"][SNAPSHOT])
    assert row == {"name": "app", "ready": True, "restartCount": 1, "containerID": "containerd://web-0-1"}


async def test_a_pod_that_nobody_opted_in_is_managed_too(cluster: ScriptedCluster, controller: Running) -> None:
    pod = cluster.pod("web-0")
    cluster.api.put(PODS, {**pod, "metadata": {**pod["metadata"], "annotations": {}}})
    request(cluster, pod, status=RECREATING)
    cluster.set_status(PODS, "web-0", restarted(pod))
    await cluster.until(lambda: SNAPSHOT in found(cluster)["metadata"].get("annotations", {}))


def restarted(pod: Any) -> Any:
    [row] = pod["status"]["containerStatuses"]
    return {**pod["status"], "containerStatuses": [{**row, "containerID": "containerd://new", "restartCount": 1}]}


async def test_the_ttl_deletes_a_request_and_none_keeps_it(cluster: ScriptedCluster, controller: Running) -> None:
    pod = cluster.pod("web-0")
    request(cluster, pod, status={**DONE, "completionTime": cluster.at()}, ttlSecondsAfterFinished=5)
    await cluster.until(lambda: found(cluster) is None)
    request(cluster, pod, status=DONE)
    await cluster.until(lambda: not is_active(cluster))
    await cluster.pass_seconds(60)
    assert found(cluster) is not None


async def test_a_pod_with_the_gate_is_out_of_service_until_the_request_is_over(
    cluster: ScriptedCluster, controller: Running
) -> None:
    pod = cluster.pod("web-0")
    gated = {**pod["spec"], "readinessGates": [{"conditionType": "KruisePodReady"}]}
    pod = cluster.api.put(PODS, {**pod, "spec": gated})
    request(cluster, pod, status=RECREATING, strategy={"unreadyGracePeriodSeconds": 3})
    await cluster.until(lambda: UNREADY_ACQUIRED in found(cluster)["metadata"].get("annotations", {}))
    assert found(cluster)["metadata"].get("finalizers", []) == [], "it would keep its kind from being deleted"
    assert conditions(cluster)["KruisePodReady"]["status"] == "False"
    assert conditions(cluster)["Ready"]["status"] == "False"
    noted = found(cluster)["metadata"]["annotations"][UNREADY_ACQUIRED]
    await cluster.pass_seconds(15)
    assert found(cluster)["metadata"]["annotations"][UNREADY_ACQUIRED] == noted, "the time is never moved"
    cluster.set_status(KIND, "again", DONE)
    await cluster.until(lambda: not is_active(cluster))
    assert found(cluster)["metadata"].get("finalizers", []) == []
    assert conditions(cluster)["KruisePodReady"] | {"lastTransitionTime": ""} == {
        "type": "KruisePodReady",
        "status": "True",
        "message": "[]",
        "lastTransitionTime": "",
    }


async def out_of_service(cluster: ScriptedCluster) -> None:
    """A request has taken its pod out of service."""
    pod = cluster.pod("web-0")
    pod = cluster.api.put(
        PODS, {**pod, "spec": {**pod["spec"], "readinessGates": [{"conditionType": "KruisePodReady"}]}}
    )
    request(cluster, pod, status=RECREATING, strategy={"unreadyGracePeriodSeconds": 3})
    await cluster.until(lambda: UNREADY_ACQUIRED in found(cluster)["metadata"].get("annotations", {}))
    assert conditions(cluster)["KruisePodReady"]["status"] == "False"


async def test_a_request_that_somebody_deletes_leaves_no_pod_out_of_service(
    cluster: ScriptedCluster, controller: Running
) -> None:
    await out_of_service(cluster)
    cluster.api.remove(KIND, "again", "default")
    await cluster.until(lambda: conditions(cluster)["KruisePodReady"]["status"] == "True")


async def test_the_next_leader_puts_a_pod_back_whose_request_went_meanwhile(cluster: ScriptedCluster) -> None:
    first = await cluster.controller()
    await cluster.ready(first)
    await out_of_service(cluster)
    await first.stop()
    cluster.api.remove(KIND, "again", "default")
    await cluster.pass_seconds(10)
    assert conditions(cluster)["KruisePodReady"]["status"] == "False"
    await cluster.ready(await cluster.controller())
    await cluster.until(lambda: conditions(cluster)["KruisePodReady"]["status"] == "True")


async def test_a_pod_whose_request_goes_on_and_one_that_others_keep_out_stay_so(
    cluster: ScriptedCluster, controller: Running
) -> None:
    await out_of_service(cluster)
    other = cluster.pod("other-0")
    message = '[{"userAgent":"InplaceUpdate","key":"default/gone"}]'
    condition = {"type": "KruisePodReady", "status": "False", "message": message}
    cluster.set_status(PODS, "other-0", {**other["status"], "conditions": [condition]})
    await cluster.pass_seconds(30)
    assert conditions(cluster)["KruisePodReady"]["status"] == "False"
    kept = cluster.api.get(PODS, "other-0", "default")
    assert kept is not None
    assert kept["status"]["conditions"] == [condition]


async def test_a_later_request_of_the_same_name_for_another_pod_keeps_none_out_of_service(
    cluster: ScriptedCluster, controller: Running
) -> None:
    await out_of_service(cluster)
    cluster.api.remove(KIND, "again", "default")
    request(cluster, cluster.pod("other-0"), status=RECREATING)
    await cluster.until(lambda: conditions(cluster)["KruisePodReady"]["status"] == "True")


async def test_a_write_that_fails_is_tried_again(cluster: ScriptedCluster, controller: Running) -> None:
    await out_of_service(cluster)
    cluster.api.faults.add(Answer(500), "patch", "pods", times=3)
    cluster.api.remove(KIND, "again", "default")
    await cluster.until(lambda: conditions(cluster)["KruisePodReady"]["status"] == "True")


def conditions(cluster: ScriptedCluster) -> Any:
    pod = cluster.api.get(PODS, "web-0", "default")
    assert pod is not None
    return {each["type"]: each for each in pod["status"]["conditions"]}


async def test_conflicts_and_errors_lose_nothing(cluster: ScriptedCluster, controller: Running) -> None:
    cluster.api.faults.add(Answer(409, reason="Conflict"), "patch", "containerrecreaterequests", times=3)
    cluster.api.faults.add(Answer(500), "patch", "containerrecreaterequests", times=2)
    request(cluster, cluster.pod("web-0"), status={**DONE, "completionTime": cluster.at()}, ttlSecondsAfterFinished=5)
    await cluster.until(lambda: found(cluster) is None)


async def test_beside_openkruise_its_manager_does_it(cluster: ScriptedCluster) -> None:
    await cluster.ready(await cluster.controller(manages_requests=False))
    request(cluster, cluster.pod("web-0"))
    await cluster.pass_seconds(70)
    assert status(cluster) == {}
    assert is_active(cluster)
