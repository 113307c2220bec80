"""``probelet-event/1``, ``probelet-retry/1`` and ``probelet-reset/1``."""

from typing import Literal, TypedDict


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
