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


class Strategy(Object, frozen=True, kw_only=True):
    """``spec.strategy``."""

    failure_policy: str = ""
    ordered_recreate: bool = False
    force_recreate: bool = False
    termination_grace_period_seconds: int | None = None
    unready_grace_period_seconds: int | None = None
    min_started_seconds: int = 0


class WantedContainer(Object, frozen=True, kw_only=True):
    """A container that the request is about; None if nobody filled the context."""

    name: str = ""
    status_context: StatusContext | None = None


class RequestSpec(Object, frozen=True, kw_only=True):
    """``spec``."""

    pod_name: str = ""
    containers: list[WantedContainer] = msgspec.field(default_factory=list)
    strategy: Strategy | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None


class RecreateState(Object, frozen=True, kw_only=True):
    """``status.containerRecreateStates``: how far one container is."""

    name: str = ""
    phase: str = ""
    message: str = ""
    is_killed: bool = False


class RequestStatus(Object, frozen=True, kw_only=True):
    """``status``."""

    phase: str = ""
    completion_time: str | None = None
    message: str = ""
    container_recreate_states: list[RecreateState] = msgspec.field(default_factory=list)


class RequestObject(Object, frozen=True, kw_only=True):
    """A request as an API server sends it; what the restart decision and the executors keep of it is made from it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: RequestSpec = RequestSpec()
    status: RequestStatus = RequestStatus()


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


def read_request_object(found: dict[str, Any]) -> RequestObject:
    """Reads a ContainerRecreateRequest. Raises ``msgspec.ValidationError``."""
    return msgspec.convert(found, RequestObject, strict=False)


def request_of(read: RequestObject) -> RecreateRequest:
    """The request as the restart decision needs it."""
    meta, spec, status = read.metadata, read.spec, read.status
    first = spec.containers[0] if spec.containers else WantedContainer()
    instance = first.status_context or StatusContext()
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
        container_id=instance.container_id,
        restart_count=instance.restart_count,
        container_phase=phases.get(first.name, ""),
        created_ns=nanoseconds(meta.creation_timestamp) or 0,
        completed_ns=nanoseconds(status.completion_time),
        ttl_seconds=spec.ttl_seconds_after_finished,
    )


def read_request(found: dict[str, Any]) -> RecreateRequest:
    """``request_of`` for a request as JSON data."""
    return request_of(read_request_object(found))
