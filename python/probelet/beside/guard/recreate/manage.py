"""The manager's writes to a request: its end, the statuses of its new containers, its place out of service.

Source: kruise 1.9.0 pkg/controller/containerrecreaterequest/crr_controller.go, in its order; one write at a time.
Where this differs: at the deadline what has not ended has failed (C-2), a new container is known by its ID and not by
clocks (C-3), and no request gets a finalizer.
"""

from typing import Any, Final, TypeAlias

import msgspec

from probelet.beside.guard.names import ACTIVE, SNAPSHOT, UNREADY_ACQUIRED
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.recreate_request import (
    COMPLETED,
    RECREATING,
    RecreateRequest,
    SeenStatus,
    StatusContext,
)
from probelet.beside.guard.objects.requested_pod import RequestedPod
from probelet.beside.guard.recreate import messages
from probelet.beside.guard.recreate.not_ready import put_back, taken_out
from probelet.beside.guard.recreate.progress import given_up, listed
from probelet.spec.text.duration import SECOND

ANSWER_NS: Final = 60 * SECOND
"""How long the node has to begin."""
SLACK_NS: Final = 60 * SECOND
"""How far the manager's clock and the API server's may differ (F-12)."""
POLL_NS: Final = 3 * SECOND
"""How often a pod is read while its container is recreated, in case its changes arrive late."""


class Age(msgspec.Struct, frozen=True):
    """``by_clock_ns``: the manager's wall clock less the creation. ``seen_ns``: how long the manager has known the
    request, by no clock that somebody sets."""

    by_clock_ns: int
    seen_ns: int

    def left_ns(self, limit_ns: int) -> int:
        """Returns the rest of a limit since the creation; 0 once it is certain to be over."""
        return max(0, min(limit_ns - self.seen_ns, limit_ns + SLACK_NS - self.by_clock_ns))


class Patch(msgspec.Struct, frozen=True):
    """Merge-patch the request, or with ``subresource`` its status."""

    body: dict[str, Any]
    subresource: str = ""
    ends: str = ""
    """Why the request ends with it; empty if it does not."""


class Delete(msgspec.Struct, frozen=True):
    """Delete the request."""


class SetConditions(msgspec.Struct, frozen=True):
    """Patch these conditions of the pod, if it is still the version that was read."""

    conditions: list[dict[str, Any]]


Action: TypeAlias = Patch | Delete | SetConditions


class Management(msgspec.Struct, frozen=True):
    """``action``: the next write, after which a further look follows. Without one ``again_ns`` says when to look
    without news; None: never."""

    action: Action | None = None
    again_ns: int | None = None


def manage(request: RecreateRequest, pod: RequestedPod | None, age: Age, wall_ns: int) -> Management:
    """The next thing to do. ``pod`` has the name that the request names, whatever its UID; None if there is none."""
    if request.is_deleting or request.is_completed:
        return _of_ended(request, pod, wall_ns)
    if pod is None or pod.is_terminating or pod.uid != request.pod_uid:
        return _ended(request, messages.POD_GONE, "PodGone", wall_ns)
    waits = []
    if not request.phase:
        if not (left := age.left_ns(ANSWER_NS)):
            return _ended(request, messages.NOT_ANSWERED, "NotAnswered", wall_ns)
        waits.append(left)
    if request.active_deadline_seconds is not None:
        if not (left := age.left_ns(request.active_deadline_seconds * SECOND)):
            return _ended(request, messages.DEADLINE, "Deadline", wall_ns)
        waits.append(left)
    if request.phase != RECREATING:
        return Management(again_ns=min(waits, default=None))
    seen = snapshot(request, pod)
    # An empty one never replaces another: between two instances the last one that ran counts.
    if seen != request.snapshot and (seen or not request.snapshot):
        return Management(Patch(_annotated(SNAPSHOT, msgspec.json.encode(msgspec.to_builtins(seen)).decode())))
    if request.strategy.unready_grace_period_seconds is not None and not request.unready_acquired:
        return _out_of_service(request, pod, wall_ns)
    return Management(again_ns=min([POLL_NS, *waits]))


def snapshot(request: RecreateRequest, pod: RequestedPod) -> tuple[SeenStatus, ...]:
    """The kubelet's statuses of the containers that run and are not the ones that the request means."""
    found = []
    for wanted in request.containers:
        container = pod.container(wanted.name)
        status = None if container is None else container.status
        if status is None or status.state.running is None:
            continue
        meant = wanted.status_context or StatusContext()
        if status.container_id == meant.container_id and status.restart_count <= meant.restart_count:
            continue
        found.append(
            SeenStatus(
                name=wanted.name,
                ready=status.ready,
                restart_count=status.restart_count,
                container_id=status.container_id,
            )
        )
    return tuple(found)


def asks_for_unready(request: RecreateRequest) -> bool:
    """Whether the request may have taken its pod out of service."""
    return request.strategy.unready_grace_period_seconds is not None or UNREADY_ACQUIRED in request.finalizers


def _of_ended(request: RecreateRequest, pod: RequestedPod | None, wall_ns: int) -> Management:
    if pod is not None and pod.uid == request.pod_uid and not pod.is_terminating and pod.has_readiness_gate:
        conditions = put_back(pod, request.full_name, text(wall_ns))
        if conditions:
            return Management(SetConditions(conditions))
    if UNREADY_ACQUIRED in request.finalizers:
        # Of an earlier release, or of OpenKruise's manager.
        left = [each for each in request.finalizers if each != UNREADY_ACQUIRED]
        return Management(Patch({"metadata": {"finalizers": left}}))
    if request.is_deleting:
        return Management()
    if request.is_active:
        return Management(Patch({"metadata": {"labels": {ACTIVE: None}}}))
    if request.ttl_seconds is None or request.completed_ns is None:
        return Management()
    left_ns = request.completed_ns + request.ttl_seconds * SECOND - wall_ns
    return Management(again_ns=left_ns) if left_ns > 0 else Management(Delete())


def _ended(request: RecreateRequest, message: str, why: str, wall_ns: int) -> Management:
    status: dict[str, Any] = {"phase": COMPLETED, "completionTime": text(wall_ns), "message": message}
    if message == messages.DEADLINE:
        status["containerRecreateStates"] = listed(given_up(request.states))
    return Management(Patch({"status": status}, "status", why))


def _out_of_service(request: RecreateRequest, pod: RequestedPod, wall_ns: int) -> Management:
    """Without a finalizer, which would keep the kind from being deleted once no controller is left. The condition names
    the request, so a pod whose request is gone is put back all the same (``controller/requests.py``)."""
    now = text(wall_ns)
    if pod.has_readiness_gate and (conditions := taken_out(pod, request.full_name, now)):
        return Management(SetConditions(conditions))
    return Management(Patch(_annotated(UNREADY_ACQUIRED, now)))


def _annotated(key: str, value: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {key: value}}}
