"""The handler of ContainerRecreateRequests: it reads the pod and its node, and decides nothing itself."""

from collections.abc import Mapping
from typing import Any, Final

from probelet.beside.guard.names import KRUISE_APPS, MANAGED, POD_UID
from probelet.beside.guard.objects.requested_pod import RequestedPod, read_requested_pod
from probelet.beside.guard.recreate.validate import Injected, Refused, check, check_pod, check_update, inject
from probelet.kube.connection import Connection
from probelet.kube.error import NotFound
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS, NODES, PODS
from probelet.webhook.handler import IGNORED, AsyncHandler
from probelet.webhook.review import AdmissionRequest, AdmissionResponse, Refusal

REASONS: Final = {400: "BadRequest", 403: "Forbidden"}


def mutate_requests(connection: Connection) -> AsyncHandler:
    """The handler that checks new requests and fills them from their pod, as OpenKruise's webhook does. It raises
    KubeError if the API server does not answer; the answer is the HTTP status 500 then."""

    async def handle(request: AdmissionRequest) -> AdmissionResponse | Refusal:
        resource = request.resource
        if (resource.group, resource.resource) != (KRUISE_APPS, CONTAINER_RECREATE_REQUESTS.plural):
            return IGNORED
        if request.sub_resource or not isinstance(request.object, dict):
            return IGNORED
        if request.operation == "UPDATE":
            refused = check_update(request.old_object or {}, request.object)
            return AdmissionResponse("unchanged") if refused is None else _refusal(refused)
        if request.operation != "CREATE":
            return IGNORED
        found = await _judged(connection, request.object, request.namespace or "")
        return _refusal(found) if isinstance(found, Refused) else _patch(request.object, found)

    return handle


async def _judged(connection: Connection, obj: Mapping[str, Any], namespace: str) -> Injected | Refused:
    if refused := check(obj):
        return refused
    name = str(obj["spec"]["podName"])
    pod = await _pod(connection, name, namespace)
    if refused := check_pod(name, pod):
        return refused
    assert pod is not None, "check_pod refuses a pod that is not there"
    try:
        node = await connection.get(NODES, pod.node)
    except NotFound as error:
        return Refused(400, f"failed to get Node {pod.node}: {error.message}")
    labels = (obj.get("metadata") or {}).get("labels") or {}
    others = await _others(connection, pod) if labels.get(MANAGED) == "true" else []
    return inject(obj, pod, (node["metadata"].get("labels") or {}), others)


async def _pod(connection: Connection, name: str, namespace: str) -> RequestedPod | None:
    try:
        return read_requested_pod(await connection.get(PODS, name, namespace))
    except NotFound:
        return None


async def _others(connection: Connection, pod: RequestedPod) -> list[dict[str, Any]]:
    """The requests of the restart decision for a pod."""
    listed = await connection.list(
        CONTAINER_RECREATE_REQUESTS, pod.namespace, labels=f"{POD_UID}={pod.uid},{MANAGED}=true"
    )
    return listed.items


def _patch(obj: Mapping[str, Any], found: Injected) -> AdmissionResponse:
    before = obj.get("metadata") or {}
    operations: list[dict[str, Any]] = []
    if before.get("labels") != found.labels:
        operations.append({"op": "add", "path": "/metadata/labels", "value": found.labels})
    if obj["spec"] != found.spec:
        operations.append({"op": "replace", "path": "/spec", "value": found.spec})
    return AdmissionResponse("mutated" if operations else "unchanged", operations)


def _refusal(refused: Refused) -> Refusal:
    return Refusal("refused", refused.code, REASONS[refused.code], refused.message)
