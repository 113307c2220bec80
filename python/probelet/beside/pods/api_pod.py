"""A pod as the API server has it: the few fields that the agent reads anew with every change."""

from typing import Any, Final

import msgspec

from probelet.beside.pods.instances import NO_INSTANCES, Instances, named_in
from probelet.beside.probes.asked import NOTHING, Asked, asked_of
from probelet.beside.takeover.names import (
    CONDITION,
    LEFT,
    MANAGED_LABEL,
    MIRROR_ANNOTATION,
    NOT_TAKEN_OVER_ANNOTATION,
    PRE_STOP_IDEMPOTENT,
    PROBES_ANNOTATION,
)
from probelet.policy.status.container_status import StateName
from probelet.spec.annotation.probe_options import ANNOTATION as PROBE_OPTIONS
from probelet.spec.model.pod import ContainerStateWaiting, ContainerStatus, PodCondition, PodPhase, PodStatus
from probelet.spec.model.pod_object import identity, read_pod_object


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


_PHASES: Final[dict[str, PodPhase]] = {
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
    options: str | None
    """The options of its probes (``probelet.dev/probe-options``); None without the annotation."""
    not_taken_over: str
    """Why probes stay with the kubelet; empty for most pods."""
    terminating: bool
    phase: PodPhase
    containers: dict[str, ApiContainer]
    condition: PodCondition | None
    """Ours, as the API server has it."""
    version: str = ""
    """``metadata.resourceVersion``."""
    is_on_host_network: bool = False
    is_left: bool = False
    """Its label asks the agent to leave it alone."""
    is_pre_stop_idempotent: bool = False
    """A preStop hook that did not end may run again."""
    asked: Asked = NOTHING
    """The handlers that its annotation for enhanced liveness asks for."""

    @property
    def is_ready(self) -> bool:
        """Whether our condition is True."""
        return self.condition is not None and self.condition.status == "True"

    @property
    def instances(self) -> Instances:
        """The instances that our condition names."""
        return NO_INSTANCES if self.condition is None else named_in(self.condition.message)

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


def api_pod(found: dict[str, Any], node: str) -> ApiPod | None:
    """The pod, or None for one that is not of this node, or that a kubelet runs from a file.

    Raises ``msgspec.ValidationError`` for what is no pod. The field selector says the node too, but a server or a proxy
    that ignores selectors must not make an agent probe other nodes' pods.
    """
    pod = read_pod_object(found)
    annotations = pod.annotations
    if pod.spec.node_name != node or MIRROR_ANNOTATION in annotations:
        return None
    namespace, name, uid = identity(pod)
    status = pod.status or PodStatus()
    rows = [*status.init_container_statuses, *status.container_statuses]
    return ApiPod(
        uid=uid,
        namespace=namespace,
        name=name,
        annotation=annotations.get(PROBES_ANNOTATION),
        options=annotations.get(PROBE_OPTIONS),
        not_taken_over=annotations.get(NOT_TAKEN_OVER_ANNOTATION, ""),
        terminating=pod.metadata.deletion_timestamp is not None,
        phase=_PHASES.get(status.phase, "Unknown"),
        containers={row.name: _container(row) for row in rows},
        condition=next((condition for condition in status.conditions if condition.type == CONDITION), None),
        version=pod.metadata.resource_version or "",
        is_on_host_network=pod.spec.host_network is True,
        is_left=(pod.metadata.labels or {}).get(MANAGED_LABEL) == LEFT,
        is_pre_stop_idempotent=annotations.get(PRE_STOP_IDEMPOTENT) == "true",
        asked=asked_of(pod),
    )


def _container(row: ContainerStatus) -> ApiContainer:
    state = row.state
    waiting = state.waiting or ContainerStateWaiting()
    name: StateName = "running" if state.running is not None else "terminated" if state.terminated else "waiting"
    return ApiContainer(
        id=row.container_id,
        state=name,
        started=name == "running" and row.started is True,
        reason=waiting.reason,
        message=waiting.message,
    )
