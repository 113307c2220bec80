"""The handler of ContainerRecreateRequests, with a pod and a node at an API server."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from probelet.beside.guard.names import ACTIVE, MANAGED, NODE_NAME, POD_UID
from probelet.kube.error import KubeError
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS, NODES, PODS
from probelet.webhook.handler import AsyncHandler
from probelet.webhook.requests import mutate_requests
from probelet.webhook.review import AdmissionResponse, Refusal, decode_review

from tests.support.kube_api import Answer, KubeApi
from tests.unit.webhook.reviews import review

Json = dict[str, Any]
CONTEXT = {"containerID": "containerd://1", "restartCount": 0}
WANTED: Json = {
    "metadata": {"name": "again", "namespace": "default"},
    "spec": {"podName": "web", "containers": [{"name": "app"}]},
}


@pytest_asyncio.fixture
async def api() -> AsyncIterator[KubeApi]:
    async with KubeApi() as api:
        api.put(NODES, {"metadata": {"name": "worker-1", "labels": {"type": "virtual-kubelet"}}})
        status = {"name": "app", "containerID": "containerd://1", "restartCount": 0}
        pod = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"nodeName": "worker-1"}}
        pod["spec"] |= {"containers": [{"name": "app"}], "terminationGracePeriodSeconds": 30}
        api.put(PODS, {**pod, "status": {"phase": "Running", "containerStatuses": [status]}})
        yield api


@pytest_asyncio.fixture
async def handle(api: KubeApi) -> AsyncIterator[AsyncHandler]:
    async with api.connection() as connection:
        yield mutate_requests(connection)


def asked(obj: Any = WANTED, *, version: str = "v1alpha1", **more: Any) -> Any:
    resource = {"group": "apps.kruise.io", "version": version, "resource": "containerrecreaterequests"}
    return decode_review(review(resource=resource, object=obj, **more))


def applied(answer: AdmissionResponse | Refusal) -> Json:
    """What a request becomes."""
    assert isinstance(answer, AdmissionResponse), answer
    found = copy.deepcopy(WANTED)
    for operation in answer.operations:
        if operation["path"] == "/spec":
            found["spec"] = operation["value"]
        else:
            found["metadata"]["labels"] = operation["value"]
    return found


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
async def test_upstream_create_valid_in_both_versions(api: KubeApi, handle: AsyncHandler, version: str) -> None:
    pod = api.get(PODS, "web", "default")
    assert pod is not None
    found = applied(await handle(asked(version=version)))
    uid = pod["metadata"]["uid"]
    expected = {ACTIVE: "true", NODE_NAME: "worker-1", POD_UID: uid, "type": "virtual-kubelet"}
    assert found["metadata"]["labels"] == expected
    assert found["spec"]["containers"] == [{"name": "app", "statusContext": CONTEXT}]
    assert found["spec"]["strategy"] == {"failurePolicy": "Fail", "terminationGracePeriodSeconds": 30}


async def test_upstream_request_kind_of_another_version_is_read_by_its_resource(handle: AsyncHandler) -> None:
    other = {"group": "apps.kruise.io", "version": "v1beta1", "kind": "ContainerRecreateRequest"}
    assert applied(await handle(asked(requestKind=other)))


async def test_a_dry_run_gets_the_same_answer(handle: AsyncHandler) -> None:
    assert await handle(asked(dryRun=True)) == await handle(asked())


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "podName can not be empty"), ("gone", "no found Pod named gone")],
)
async def test_upstream_create_without_a_pod(handle: AsyncHandler, name: str, message: str) -> None:
    answer = await handle(asked({**WANTED, "spec": {**WANTED["spec"], "podName": name}}))
    assert answer == Refusal("refused", 400, "BadRequest", message)


async def test_a_node_that_is_gone_is_named(api: KubeApi, handle: AsyncHandler) -> None:
    api.remove(NODES, "worker-1")
    answer = await handle(asked())
    assert isinstance(answer, Refusal)
    assert (answer.code, answer.message.startswith("failed to get Node worker-1: ")) == (400, True)


async def test_an_api_server_that_does_not_answer_is_no_refusal(api: KubeApi, handle: AsyncHandler) -> None:
    api.faults.add(Answer(500), "get", "pods", times=1)
    with pytest.raises(KubeError):
        await handle(asked())


async def test_c5_a_second_request_of_the_decision_is_refused_and_a_users_is_not(
    api: KubeApi, handle: AsyncHandler
) -> None:
    pod = api.get(PODS, "web", "default")
    assert pod is not None
    labels = {MANAGED: "true", POD_UID: pod["metadata"]["uid"]}
    first = {**WANTED, "metadata": {"name": "first", "namespace": "default", "labels": labels}}
    api.put(CONTAINER_RECREATE_REQUESTS, first)
    ours = {**WANTED, "metadata": {**WANTED["metadata"], "labels": {MANAGED: "true"}}}
    answer = await handle(asked(ours))
    assert isinstance(answer, Refusal)
    assert (answer.code, answer.reason) == (403, "Forbidden")
    assert applied(await handle(asked()))


async def test_upstream_update_spec_immutable(handle: AsyncHandler) -> None:
    before = {**WANTED, "spec": {**WANTED["spec"], "activeDeadlineSeconds": 5}}
    answer = await handle(asked(operation="UPDATE", oldObject=before))
    assert answer == Refusal("refused", 403, "Forbidden", "spec of ContainerRecreateRequest is immutable")
    assert await handle(asked(operation="UPDATE", oldObject=WANTED)) == AdmissionResponse("unchanged")


@pytest.mark.parametrize(
    "change", [{"subResource": "status"}, {"operation": "DELETE"}, {"resource": {"resource": "pods", "version": "v1"}}]
)
async def test_other_requests_pass_as_they_are(handle: AsyncHandler, change: Json) -> None:
    base: Json = {
        "resource": {"group": "apps.kruise.io", "version": "v1alpha1", "resource": "containerrecreaterequests"}
    }
    asked_for = decode_review(review(object=WANTED, **{**base, **change}))
    assert await handle(asked_for) == AdmissionResponse("ignored")
