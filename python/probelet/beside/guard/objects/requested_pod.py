"""The pod of a ContainerRecreateRequest, as its admission and its manager read it: any pod, opted in or not."""

from typing import Any

import msgspec

from probelet.beside.guard.names import READINESS_GATE
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.pod import ContainerStatus, PodReadinessGate, PodStatus


class _Container(Object, frozen=True, kw_only=True):
    name: str = ""
    lifecycle: dict[str, Any] | None = None
    ports: list[dict[str, Any]] = msgspec.field(default_factory=list)


class _Spec(Object, frozen=True, kw_only=True):
    containers: list[_Container] = msgspec.field(default_factory=list)
    node_name: str = ""
    termination_grace_period_seconds: int | None = None
    readiness_gates: list[PodReadinessGate] = msgspec.field(default_factory=list)


class _Pod(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: PodStatus = PodStatus()


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
    read = msgspec.convert(pod, _Pod, strict=False)
    meta, spec, status = read.metadata, read.spec, read.status
    statuses = {each.name: each for each in status.container_statuses}
    return RequestedPod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        version=meta.resource_version,
        node=spec.node_name,
        phase=status.phase,
        is_terminating=meta.deletion_timestamp is not None,
        grace_seconds=spec.termination_grace_period_seconds,
        has_readiness_gate=any(gate.condition_type == READINESS_GATE for gate in spec.readiness_gates),
        gate_message=next((each.message for each in status.conditions if each.type == READINESS_GATE), ""),
        conditions={each.type: each.status for each in status.conditions},
        containers=tuple(
            RequestedContainer(
                name=each.name,
                pre_stop=(each.lifecycle or {}).get("preStop"),
                ports=tuple(each.ports),
                status=statuses.get(each.name),
            )
            for each in spec.containers
        ),
    )
