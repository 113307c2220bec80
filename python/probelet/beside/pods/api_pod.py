"""A pod as the API server has it: the few fields that the agent reads anew with every change."""

from typing import Any, Final, Literal

import msgspec

from probelet.beside.takeover.names import CONDITION, MIRROR_ANNOTATION, NOT_TAKEN_OVER_ANNOTATION, PROBES_ANNOTATION
from probelet.policy.status.container_status import StateName


class _Meta(msgspec.Struct, rename="camel"):
    uid: str
    name: str
    namespace: str
    resource_version: str = ""
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _Waiting(msgspec.Struct):
    reason: str | None = None
    message: str | None = None


class _State(msgspec.Struct):
    running: dict[str, Any] | None = None
    terminated: dict[str, Any] | None = None
    waiting: _Waiting | None = None


class _Container(msgspec.Struct, rename="camel"):
    name: str
    container_id: str | None = msgspec.field(default=None, name="containerID")
    started: bool | None = None
    state: _State | None = None


class Condition(msgspec.Struct, frozen=True, rename="camel"):
    """A condition of a pod."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    phase: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[_Container] | None = None
    init_container_statuses: list[_Container] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None
    host_network: bool | None = None


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec
    status: _Status | None = None


class ApiContainer(msgspec.Struct, frozen=True):
    """The kubelet's last status of a container."""

    id: str
    """``type://id``; empty before the first start."""
    state: StateName
    started: bool
    """It runs, its postStart hook has ended, and its native startup probe, if it has one, has passed."""
    reason: str
    """Why it waits, such as ``CrashLoopBackOff``."""
    message: str


Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]

_PHASES: Final[dict[str, Phase]] = {
    "Pending": "Pending",
    "Running": "Running",
    "Succeeded": "Succeeded",
    "Failed": "Failed",
}


class ApiPod(msgspec.Struct, frozen=True):
    """One version of a pod of this node."""

    uid: str
    namespace: str
    name: str
    annotation: str | None
    """The probes that were taken over; None for a pod without the annotation."""
    not_taken_over: str
    """Why probes stay with the kubelet; empty for most pods."""
    terminating: bool
    phase: Phase
    containers: dict[str, ApiContainer]
    condition: Condition | None
    """Ours, as the API server has it."""
    version: str = ""
    """``metadata.resourceVersion``."""
    is_on_host_network: bool = False

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


def api_pod(found: dict[str, Any], node: str) -> ApiPod | None:
    """The pod, or None for one that is not of this node, or that a kubelet runs from a file.

    Raises ``msgspec.ValidationError`` for what is no pod. The field selector says the node too, but a server or a proxy
    that ignores selectors must not make an agent probe other nodes' pods.
    """
    pod = msgspec.convert(found, _Pod)
    annotations = pod.metadata.annotations or {}
    if pod.spec.node_name != node or MIRROR_ANNOTATION in annotations:
        return None
    status = pod.status or _Status()
    rows = [*(status.init_container_statuses or ()), *(status.container_statuses or ())]
    conditions = status.conditions or ()
    return ApiPod(
        uid=pod.metadata.uid,
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        annotation=annotations.get(PROBES_ANNOTATION),
        not_taken_over=annotations.get(NOT_TAKEN_OVER_ANNOTATION, ""),
        terminating=pod.metadata.deletion_timestamp is not None,
        phase=_PHASES.get(status.phase or "", "Unknown"),
        containers={row.name: _container(row) for row in rows},
        condition=next((condition for condition in conditions if condition.type == CONDITION), None),
        version=pod.metadata.resource_version,
        is_on_host_network=pod.spec.host_network is True,
    )


def _container(row: _Container) -> ApiContainer:
    state = row.state or _State()
    waiting = state.waiting or _Waiting()
    name: StateName = "running" if state.running is not None else "terminated" if state.terminated else "waiting"
    return ApiContainer(
        id=row.container_id or "",
        state=name,
        started=name == "running" and row.started is True,
        reason=waiting.reason or "",
        message=waiting.message or "",
    )
