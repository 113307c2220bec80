"""``probelet-event/1``, ``probelet-retry/1``, ``probelet-reset/1`` and ``probelet-pause/1``."""

from typing import Literal, TypedDict

from probelet.spec.model.probe import ProbeType


class EventDocument(TypedDict):
    """One event about a pod or a container, as the kubelet records it."""

    schema: Literal["probelet-event/1"]
    at: str
    """The moment of the newest of the equal events."""
    type: Literal["Normal", "Warning"]
    """The type of the event."""
    reason: str
    """The reason in the kubelet's words, such as ``Unhealthy``."""
    message: str
    """The text."""
    object: str
    """The pod, as NAMESPACE/NAME."""
    field_path: str
    """The container, as ``spec.containers{NAME}``; empty for the whole pod."""
    count: int
    """How many equal events this one stands for."""


class RecordedEvent(EventDocument):
    """An event with its place in the stream of the service; no verb prints ``seq``."""

    seq: int


class CommandDocument(TypedDict):
    """The containers on which a command acted."""

    schema: Literal["probelet-retry/1", "probelet-reset/1"]
    pod: str
    """The pod, as the command named it."""
    containers: list[str]
    """The names of the containers that were started, or whose delay was reset."""


class PausedProbe(TypedDict):
    """A probe that makes no attempt for a while."""

    container: str
    """The name of the container."""
    probe_type: ProbeType
    """``liveness``, ``readiness`` or ``startup``."""
    paused_until: str | None
    """When its attempts begin again; null if the command ended its pause."""


class PauseDocument(TypedDict):
    """The probes on which ``probelet pause`` acted."""

    schema: Literal["probelet-pause/1"]
    pod: str
    """The pod, as the command named it."""
    probes: list[PausedProbe]
    """One for each probe."""
