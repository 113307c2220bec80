"""The validation of a new or changed request: what is wrong with it, and which fields it gets from its pod.

Source: kruise 1.9.0 pkg/webhook/containerrecreaterequest/mutating/crr_mutating_handler.go, with its words. Where this
differs: a request of the restart decision may bring its ``statusContext``, and is refused while another one of the
decision is under way for the same container (C-5).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from probelet.beside.guard.names import ACTIVE, MANAGED, NODE_NAME, POD_UID, UNREADY_ACQUIRED, VIRTUAL_NODE
from probelet.beside.guard.objects.recreate_request import RequestSpec, Strategy
from probelet.beside.guard.objects.requested_pod import RequestedContainer, RequestedPod
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.pod_object import MetaPart

DEADLINE_SECONDS_MIN: Final = 3
SIDECAR_TERMINATED: Final = "SidecarTerminated"
"""The condition of a pod whose sidecars OpenKruise ends by such requests, though the pod has ended."""

Json: TypeAlias = Mapping[str, Any]


class _Written(Object, frozen=True, kw_only=True):
    """A request by its types alone."""

    metadata: ObjectMeta = ObjectMeta()
    spec: RequestSpec = RequestSpec()


class _Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A request that exists: what a change may not touch."""

    metadata: MetaPart | None = None


class Refused(msgspec.Struct, frozen=True):
    """The request is not created or changed: HTTP status and message."""

    code: int
    message: str


class Injected(msgspec.Struct, frozen=True):
    """The labels and the spec that the request gets."""

    labels: dict[str, str]
    spec: dict[str, Any]


def check(request: Json) -> Refused | None:
    """Returns the mistake in a new request by itself. The API server has not compared it with its schema yet."""
    try:
        whole = msgspec.convert(request, _Written)
    except msgspec.ValidationError as error:
        return Refused(400, f"request.object is no ContainerRecreateRequest: {error}")
    spec, strategy = whole.spec, whole.spec.strategy or Strategy()
    if not spec.pod_name:
        return Refused(400, "podName can not be empty")
    if not spec.containers:
        return Refused(400, "containers list can not be null")
    deadline = spec.active_deadline_seconds
    if deadline is not None and deadline < DEADLINE_SECONDS_MIN:
        return Refused(400, f"activeDeadlineSeconds can not be less than {DEADLINE_SECONDS_MIN}s")
    if (strategy.termination_grace_period_seconds or 0) < 0:
        return Refused(400, "terminationGracePeriodSeconds must be non-negative integer")
    if (strategy.unready_grace_period_seconds or 0) < 0:
        return Refused(400, "unreadyGracePeriodSeconds must be non-negative integer")
    if strategy.failure_policy not in ("", "Fail", "Ignore"):
        return Refused(400, f"unknown failurePolicy {strategy.failure_policy}")
    return None


def check_pod(name: str, pod: RequestedPod | None) -> Refused | None:
    """Why containers of a pod cannot be recreated."""
    if pod is None:
        return Refused(400, f"no found Pod named {name}")
    if (pod.phase in ("Succeeded", "Failed") or pod.is_terminating) and SIDECAR_TERMINATED not in pod.conditions:
        return Refused(400, "not allowed to recreate containers in an inactive Pod")
    if not pod.node:
        return Refused(400, "not allowed to recreate containers in a pending Pod")
    return None


def inject(
    request: Json, pod: RequestedPod, node_labels: Mapping[str, str], others: Iterable[Json] = ()
) -> Injected | Refused:
    """Returns the additions to a request that ``check`` and ``check_pod`` let pass. ``node_labels`` are those of the
    pod's node; ``others`` are the requests of the pod that the API server has."""
    labels = dict((request.get("metadata") or {}).get("labels") or {})
    is_managed = labels.get(MANAGED) == "true"
    spec = dict(request["spec"])
    strategy = dict(spec.get("strategy") or {})
    strategy["failurePolicy"] = strategy.get("failurePolicy") or "Fail"
    if strategy.get("terminationGracePeriodSeconds") is None and pod.grace_seconds is not None:
        strategy["terminationGracePeriodSeconds"] = pod.grace_seconds
    labels |= {ACTIVE: "true", NODE_NAME: pod.node, POD_UID: pod.uid}
    key, value = VIRTUAL_NODE
    if node_labels.get(key) == value:
        labels[key] = value
    containers: list[dict[str, Any]] = []
    for wanted in spec["containers"]:
        filled = _filled(wanted, pod, {each["name"] for each in containers}, is_managed=is_managed)
        if isinstance(filled, Refused):
            return filled
        containers.append(filled)
    if is_managed and (other := _same(containers, pod, others)):
        return Refused(403, f"ContainerRecreateRequest {other} is under way for the same container of the Pod")
    return Injected(labels, {**spec, "strategy": strategy, "containers": containers})


def _filled(wanted: Json, pod: RequestedPod, names: set[str], *, is_managed: bool) -> dict[str, Any] | Refused:
    name = str(wanted.get("name", ""))
    if name in names:
        return Refused(400, f"can not recreate {name} multi times")
    read_only = ("preStop", "ports") if is_managed else ("preStop", "ports", "statusContext")
    if any(wanted.get(field) is not None for field in read_only):
        return Refused(400, "preStop, ports, statusContext in container are ready-only fields")
    container = pod.container(name)
    if container is None:
        return Refused(400, f"container {name} not found in Pod")
    if container.status is None:
        return Refused(400, f"not found {name} containerStatus in Pod Status")
    if not container.status.container_id:
        return Refused(400, f"no containerID in {name} containerStatus, maybe the container has not been initialized")
    context = {"containerID": container.status.container_id, "restartCount": container.status.restart_count}
    return {"statusContext": context, **dict(wanted), **_hook(container)}


def _hook(container: RequestedContainer) -> dict[str, Any]:
    """The preStop hook, of the kinds that a request can have, and the ports that it may name."""
    hook = {kind: action for kind, action in (container.pre_stop or {}).items() if kind != "sleep"}
    if not hook:
        return {}
    return {"preStop": hook, "ports": list(container.ports)} if "httpGet" in hook else {"preStop": hook}


def _same(containers: list[dict[str, Any]], pod: RequestedPod, others: Iterable[Json]) -> str:
    """The name of another live request of the decision for one of the containers; empty if there is none."""
    names = {each["name"] for each in containers}
    for other in others:
        meta, spec, status = other.get("metadata") or {}, other.get("spec") or {}, other.get("status") or {}
        labels = meta.get("labels") or {}
        is_live = status.get("phase") != "Completed" and not meta.get("deletionTimestamp")
        is_ours = labels.get(MANAGED) == "true" and labels.get(POD_UID) == pod.uid
        if is_live and is_ours and names & {each.get("name") for each in spec.get("containers") or []}:
            return str(meta.get("name", ""))
    return ""


def check_update(before: Json, now: Json) -> Refused | None:
    """Why a request must not change so."""
    try:
        metas = [msgspec.convert(each, _Changed).metadata or MetaPart() for each in (before, now)]
    except msgspec.ValidationError as error:
        return Refused(400, f"request.object is no ContainerRecreateRequest: {error}")
    if before.get("spec") != now.get("spec"):
        return Refused(403, "spec of ContainerRecreateRequest is immutable")
    labels_before, labels = (each.labels or {} for each in metas)
    for key in (POD_UID, NODE_NAME):
        if labels_before.get(key) != labels.get(key):
            return Refused(403, f"not allowed to update immutable label {key}")
    noted_before, noted = (each.annotations or {} for each in metas)
    if noted_before.get(UNREADY_ACQUIRED) and noted_before.get(UNREADY_ACQUIRED) != noted.get(UNREADY_ACQUIRED):
        return Refused(403, f"not allowed to update immutable annotation {UNREADY_ACQUIRED}")
    return None
