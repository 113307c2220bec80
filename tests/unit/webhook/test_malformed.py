"""Objects that no API server sends: at each path an answer, and never an exception."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from probelet.beside.guard.mutation import Options
from probelet.beside.guard.names import CONTEXT, OPT_IN, OPTED_IN
from probelet.beside.takeover.names import MANAGED_LABEL, PROBES_ANNOTATION
from probelet.kube.kinds import PODS
from probelet.webhook.handler import AsyncHandler, Handler, mutate_enhanced_liveness, mutate_probes
from probelet.webhook.requests import mutate_requests
from probelet.webhook.review import AdmissionResponse, Refusal, decode_review, encode_review

from tests.support.kube_api import KubeApi
from tests.unit.webhook.reviews import review

Json = dict[str, Any]
PROBE: Json = {"httpGet": {"path": "/", "port": 80, "httpHeaders": [{"name": "a", "value": "b"}]}, "periodSeconds": 5}
CONTAINER: Json = {"name": "app", "livenessProbe": PROBE, "restartPolicy": "Always", "ports": [{"containerPort": 80}]}
POD: Json = {
    "metadata": {
        "name": "web",
        "labels": {MANAGED_LABEL: "true"},
        "annotations": {OPT_IN: OPTED_IN, CONTEXT: "[]", PROBES_ANNOTATION: "{}"},
        "ownerReferences": [{"apiVersion": "apps.kruise.io/v1", "controller": True}],
    },
    "spec": {"restartPolicy": "Always", "containers": [CONTAINER], "initContainers": [CONTAINER]},
}
REQUEST: Json = {
    "metadata": {"name": "again", "labels": {"a": "b"}, "annotations": {"a": "b"}},
    "spec": {
        "podName": "web",
        "containers": [{"name": "app", "statusContext": {"containerID": "containerd://1", "restartCount": 0}}],
        "strategy": {"failurePolicy": "Fail", "unreadyGracePeriodSeconds": 1},
        "activeDeadlineSeconds": 5,
    },
}
RESOURCE: Json = {"group": "apps.kruise.io", "version": "v1alpha1", "resource": "containerrecreaterequests"}
VALUES: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", "x", "\x00", [], [None], ["x"], [[]], {}, {"x": None}, {"": []}]


def ways(value: Any, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to each value in a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for key, member in members for found in ways(member, (*way, key)))]


def changed(document: Json, way: tuple[str | int, ...], value: Any) -> Any:
    if not way:
        return value
    document = copy.deepcopy(document)
    place: Any = document
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    return document


def malformed(document: Json) -> st.SearchStrategy[Any]:
    return st.builds(changed, st.just(document), st.sampled_from(ways(document)), st.sampled_from(VALUES))


def is_answered(found: AdmissionResponse | Refusal) -> None:
    assert encode_review("uid", found)
    assert isinstance(found, AdmissionResponse) or (found.code in (400, 403) and found.message)


@given(obj=malformed(POD))
@example(obj=[])
@example(obj={"metadata": None, "spec": None})
@example(obj={**POD, "spec": {"containers": [None]}})
@pytest.mark.parametrize(
    "handle",
    [
        mutate_probes("probelet-system"),
        mutate_enhanced_liveness(Options()),
        mutate_enhanced_liveness(Options(owner_scope="kruise")),
        mutate_enhanced_liveness(Options(validate=False)),
    ],
)
def test_a_malformed_pod_has_an_answer(handle: Handler, obj: Any) -> None:
    is_answered(handle(decode_review(review(object=obj))))


def test_both_paths_of_pods_answer_an_object_that_is_no_pod_alike() -> None:
    handlers = (mutate_probes("probelet-system"), mutate_enhanced_liveness(Options()))
    for obj in (None, [], {"spec": {"containers": 7}}, {"spec": {"containers": [7]}}, {"metadata": []}):
        first, second = (handle(decode_review(review(object=obj))) for handle in handlers)
        assert isinstance(first, Refusal)
        assert first == second


@pytest_asyncio.fixture
async def handle_requests() -> AsyncIterator[AsyncHandler]:
    async with KubeApi() as api:
        pod = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"containers": [{"name": "app"}]}}
        api.put(PODS, pod)
        async with api.connection() as connection:
            yield mutate_requests(connection)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(obj=malformed(REQUEST), old=malformed(REQUEST), operation=st.sampled_from(["CREATE", "UPDATE"]))
async def test_a_malformed_recreate_request_has_an_answer(
    handle_requests: AsyncHandler, obj: Any, old: Any, operation: str
) -> None:
    request = decode_review(review(resource=RESOURCE, object=obj, oldObject=old, operation=operation))
    is_answered(await handle_requests(request))
