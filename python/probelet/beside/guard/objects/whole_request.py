"""A ContainerRecreateRequest with everything that managing it and carrying it out needs (kruise 1.9.0, v1alpha1).

Later releases serve v1alpha1 too, and convert the two annotations to fields of their own.
"""

from typing import Any, Final

import msgspec

from probelet.beside.guard.names import ACTIVE, NODE_NAME, POD_UID, SNAPSHOT, UNREADY_ACQUIRED
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.beside.guard.objects.recreate_request import (
    COMPLETED,
    RecreateState,
    RequestObject,
    Strategy,
    WantedContainer,
    read_request_object,
)
from probelet.spec.model.meta import Object

PENDING: Final = "Pending"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
ENDED: Final = (SUCCEEDED, FAILED)
"""The phases of a container that stay."""


class SeenStatus(Object, frozen=True, kw_only=True, omit_defaults=False):
    """The kubelet's last status of a container, as the manager put it into the snapshot, with every field."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    container_id: str = msgspec.field(default="", name="containerID")


class WholeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a request. Moments are in nanoseconds since the Unix epoch, by the API server's clock."""

    namespace: str
    name: str
    uid: str
    version: str = ""
    created_ns: int = 0
    is_deleting: bool = False
    is_active: bool = False
    """Whether it has the label by which node executors find it."""
    finalizers: tuple[str, ...] = ()
    pod_name: str = ""
    pod_uid: str = ""
    node: str = ""
    containers: tuple[WantedContainer, ...] = ()
    strategy: Strategy = Strategy()
    active_deadline_seconds: int | None = None
    ttl_seconds: int | None = None
    phase: str = ""
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

    def state(self, container: str) -> RecreateState | None:
        """How far a container is; None before the executor has looked."""
        return next((each for each in self.states if each.name == container), None)


def whole_request_of(read: RequestObject) -> WholeRequest:
    """All of a request."""
    meta, spec, status = read.metadata, read.spec, read.status
    return WholeRequest(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        version=meta.resource_version,
        created_ns=nanoseconds(meta.creation_timestamp) or 0,
        is_deleting=meta.deletion_timestamp is not None,
        is_active=ACTIVE in meta.labels,
        finalizers=tuple(meta.finalizers),
        pod_name=spec.pod_name,
        pod_uid=meta.labels.get(POD_UID, ""),
        node=meta.labels.get(NODE_NAME, ""),
        containers=tuple(spec.containers),
        strategy=spec.strategy or Strategy(),
        active_deadline_seconds=spec.active_deadline_seconds,
        ttl_seconds=spec.ttl_seconds_after_finished,
        phase=status.phase,
        completed_ns=nanoseconds(status.completion_time),
        states=tuple(status.container_recreate_states),
        snapshot=_snapshot(meta.annotations.get(SNAPSHOT, "")),
        unready_acquired=meta.annotations.get(UNREADY_ACQUIRED, ""),
    )


def read_whole_request(found: dict[str, Any]) -> WholeRequest:
    """``whole_request_of`` for a request as JSON data. Raises ``msgspec.ValidationError``."""
    return whole_request_of(read_request_object(found))


def _snapshot(text: str) -> tuple[SeenStatus, ...]:
    try:
        return tuple(msgspec.json.decode(text, type=list[SeenStatus])) if text else ()
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        # Anybody who may change the request may have written it; the manager writes it again.
        return ()
