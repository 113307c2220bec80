"""A ContainerRecreateRequest (apps.kruise.io, kruise 1.9.0, v1alpha1).

Later releases serve v1alpha1 too, and convert two annotations to fields of their own; v1beta1 has the same fields here.
"""

from typing import Any, Final

import msgspec

from probelet.beside.guard.names import (
    ACTIVE,
    MANAGED,
    NODE_NAME,
    POD_UID,
    PROBE,
    SNAPSHOT,
    UNREADY_ACQUIRED,
)
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.spec.model.meta import Object, ObjectMeta

API_VERSION: Final = "apps.kruise.io/v1alpha1"
KIND: Final = "ContainerRecreateRequest"

COMPLETED: Final = "Completed"
RECREATING: Final = "Recreating"
PENDING: Final = "Pending"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
ENDED: Final = (SUCCEEDED, FAILED)
"""The phases of a container that stay."""


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


class _Status(Object, frozen=True, kw_only=True):
    phase: str = ""
    completion_time: str | None = None
    message: str = ""
    container_recreate_states: list[RecreateState] = msgspec.field(default_factory=list)


class _Request(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: RequestSpec = RequestSpec()
    status: _Status = _Status()


class SeenStatus(Object, frozen=True, kw_only=True, omit_defaults=False):
    """The kubelet's last status of a container, as the manager put it into the snapshot, with every field."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    container_id: str = msgspec.field(default="", name="containerID")


class RecreateRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One version of a request, of ours or of a user. Moments are Unix nanoseconds, by the API server's clock."""

    namespace: str
    name: str
    uid: str
    version: str = ""
    created_ns: int = 0
    is_deleting: bool = False
    is_active: bool = False
    """Whether it has the label by which node executors find it."""
    finalizers: tuple[str, ...] = ()
    is_ours: bool = False
    probe: str = ""
    """The probe that led to it."""
    pod_name: str = ""
    pod_uid: str = ""
    node: str = ""
    containers: tuple[WantedContainer, ...] = ()
    strategy: Strategy = Strategy()
    active_deadline_seconds: int | None = None
    ttl_seconds: int | None = None
    phase: str = ""
    """Empty, ``Pending``, ``Recreating`` or ``Completed``."""
    message: str = ""
    completed_ns: int | None = None
    states: tuple[RecreateState, ...] = ()
    snapshot: tuple[SeenStatus, ...] = ()
    """The statuses of the new instances, as the manager last wrote them."""
    unready_acquired: str = ""
    """When the manager took the pod out of service, or found that it cannot; empty before that."""

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_completed(self) -> bool:
        """Whether nobody works at it any more."""
        return self.completed_ns is not None or self.phase == COMPLETED

    @property
    def is_live(self) -> bool:
        """Whether the node still works at it."""
        return self.phase != COMPLETED

    @property
    def has_succeeded(self) -> bool:
        """Whether its first container was restarted and became ready."""
        return self.phase == COMPLETED and self.container_phase == SUCCEEDED

    @property
    def container(self) -> str:
        """Its first container; ours have one."""
        return self.containers[0].name if self.containers else ""

    @property
    def instance(self) -> StatusContext:
        """The instance of its first container."""
        return (self.containers[0].status_context if self.containers else None) or StatusContext()

    @property
    def container_phase(self) -> str:
        """``Pending``, ``Recreating``, ``Succeeded`` or ``Failed``, of its first container; empty before that."""
        state = self.state(self.container)
        return "" if state is None else state.phase

    def state(self, container: str) -> RecreateState | None:
        """How far a container is; None before the executor has looked."""
        return next((each for each in self.states if each.name == container), None)


def read_request(found: dict[str, Any]) -> RecreateRequest:
    """Reads a ContainerRecreateRequest. Raises ``msgspec.ValidationError``."""
    read = msgspec.convert(found, _Request, strict=False)
    meta, spec, status = read.metadata, read.spec, read.status
    return RecreateRequest(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        version=meta.resource_version,
        created_ns=nanoseconds(meta.creation_timestamp) or 0,
        is_deleting=meta.deletion_timestamp is not None,
        is_active=ACTIVE in meta.labels,
        finalizers=tuple(meta.finalizers),
        is_ours=meta.labels.get(MANAGED) == "true",
        probe=meta.annotations.get(PROBE, ""),
        pod_name=spec.pod_name,
        pod_uid=meta.labels.get(POD_UID, ""),
        node=meta.labels.get(NODE_NAME, ""),
        containers=tuple(spec.containers),
        strategy=spec.strategy or Strategy(),
        active_deadline_seconds=spec.active_deadline_seconds,
        ttl_seconds=spec.ttl_seconds_after_finished,
        phase=status.phase,
        message=status.message,
        completed_ns=nanoseconds(status.completion_time),
        states=tuple(status.container_recreate_states),
        snapshot=_snapshot(meta.annotations.get(SNAPSHOT, "")),
        unready_acquired=meta.annotations.get(UNREADY_ACQUIRED, ""),
    )


def _snapshot(text: str) -> tuple[SeenStatus, ...]:
    try:
        return tuple(msgspec.json.decode(text, type=list[SeenStatus])) if text else ()
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        # Anybody who may change the request may have written it; the manager writes it again.
        return ()
