"""A ContainerRecreateRequest (apps.kruise.io, kruise 1.9.0: v1alpha1; later v1beta1 too, with the same fields here)."""

from typing import Any, Final

import msgspec

from probelet.beside.guard.names import MANAGED, POD_UID, PROBE
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.spec.model.meta import Object, ObjectMeta

API_VERSION: Final = "apps.kruise.io/v1alpha1"
KIND: Final = "ContainerRecreateRequest"

COMPLETED: Final = "Completed"
RECREATING: Final = "Recreating"


class StatusContext(Object, frozen=True, kw_only=True):
    """The instance of a container that a request means."""

    container_id: str = msgspec.field(default="", name="containerID")
    restart_count: int = 0


class _Container(Object, frozen=True, kw_only=True):
    name: str = ""
    status_context: StatusContext = StatusContext()


class _Spec(Object, frozen=True, kw_only=True):
    pod_name: str = ""
    containers: list[_Container] = msgspec.field(default_factory=list)
    ttl_seconds_after_finished: int | None = None


class _State(Object, frozen=True, kw_only=True):
    name: str = ""
    phase: str = ""


class _Status(Object, frozen=True, kw_only=True):
    phase: str = ""
    completion_time: str | None = None
    message: str = ""
    container_recreate_states: list[_State] = msgspec.field(default_factory=list)


class _Request(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: _Status = _Status()


class RecreateRequest(msgspec.Struct, frozen=True, gc=False):
    """A request of ours or of a user. Moments are in nanoseconds since the Unix epoch."""

    namespace: str
    name: str
    uid: str
    pod_uid: str
    pod_name: str
    is_ours: bool
    probe: str = ""
    """The probe that led to it."""
    phase: str = ""
    """Empty, ``Pending``, ``Recreating`` or ``Completed``."""
    message: str = ""
    container: str = ""
    """Its first container; ours have one."""
    container_id: str = ""
    restart_count: int = 0
    container_phase: str = ""
    """``Pending``, ``Recreating``, ``Succeeded`` or ``Failed``."""
    created_ns: int = 0
    completed_ns: int | None = None
    ttl_seconds: int | None = None

    @property
    def is_live(self) -> bool:
        """Whether the node still works at it."""
        return self.phase != COMPLETED

    @property
    def has_succeeded(self) -> bool:
        """Whether its container was restarted and became ready."""
        return self.phase == COMPLETED and self.container_phase == "Succeeded"


def read_request(obj: dict[str, Any]) -> RecreateRequest:
    """Reads a ContainerRecreateRequest."""
    read = msgspec.convert(obj, _Request, strict=False)
    meta, spec, status = read.metadata, read.spec, read.status
    first = spec.containers[0] if spec.containers else _Container()
    phases = {each.name: each.phase for each in status.container_recreate_states}
    return RecreateRequest(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        pod_uid=meta.labels.get(POD_UID, ""),
        pod_name=spec.pod_name,
        is_ours=meta.labels.get(MANAGED) == "true",
        probe=meta.annotations.get(PROBE, ""),
        phase=status.phase,
        message=status.message,
        container=first.name,
        container_id=first.status_context.container_id,
        restart_count=first.status_context.restart_count,
        container_phase=phases.get(first.name, ""),
        created_ns=nanoseconds(meta.creation_timestamp) or 0,
        completed_ns=nanoseconds(status.completion_time),
        ttl_seconds=spec.ttl_seconds_after_finished,
    )
