"""The pod of a ContainerRecreateRequest, as its admission and its manager read it: any pod, opted in or not."""

from typing import Any

import msgspec

from probelet.beside.guard.names import READINESS_GATE
from probelet.spec.model.pod import ContainerStatus, PodStatus
from probelet.spec.model.pod_object import read_pod_object


class RequestedContainer(msgspec.Struct, frozen=True):
    """A regular container; ``status`` is None before its first instance."""

    name: str
    pre_stop: dict[str, Any] | None = None
    """The hook, as JSON data."""
    ports: tuple[dict[str, Any], ...] = ()
    status: ContainerStatus | None = None


class RequestedPod(msgspec.Struct, frozen=True):
    """One version of a pod."""

    namespace: str
    name: str
    uid: str
    version: str = ""
    node: str = ""
    phase: str = ""
    is_terminating: bool = False
    grace_seconds: int | None = None
    has_readiness_gate: bool = False
    """Whether OpenKruise's readiness gate is among its gates."""
    gate_message: str = ""
    """The message of that gate's condition."""
    conditions: dict[str, str] = {}
    """The status of each condition, by type."""
    containers: tuple[RequestedContainer, ...] = ()

    def container(self, name: str) -> RequestedContainer | None:
        """The regular container of that name."""
        return next((each for each in self.containers if each.name == name), None)


def read_requested_pod(pod: dict[str, Any]) -> RequestedPod:
    """Reads a v1.Pod. Raises ``msgspec.ValidationError``."""
    read = read_pod_object(pod)
    meta, spec, status = read.metadata, read.spec, read.status or PodStatus()
    statuses = {each.name: each for each in status.container_statuses}
    return RequestedPod(
        namespace=meta.namespace or "",
        name=meta.name or "",
        uid=meta.uid or "",
        version=meta.resource_version or "",
        node=spec.node_name or "",
        phase=status.phase,
        is_terminating=meta.deletion_timestamp is not None,
        grace_seconds=spec.termination_grace_period_seconds,
        has_readiness_gate=read.has_gate(READINESS_GATE),
        gate_message=next((each.message for each in status.conditions if each.type == READINESS_GATE), ""),
        conditions={each.type: each.status for each in status.conditions},
        containers=tuple(
            RequestedContainer(
                name=each.name or "",
                pre_stop=(each.lifecycle or {}).get("preStop"),
                ports=tuple(each.ports or ()),
                status=statuses.get(each.name or ""),
            )
            for each in spec.containers or ()
        ),
    )
