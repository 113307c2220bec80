"""The read-only side of a service that the servers show; they ask it anew for each request."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from probelet.server.document.event import RecordedEvent
from probelet.server.document.incident import IncidentsDocument, NumberedChange
from probelet.server.status import Status


class IncidentFeed(Protocol):
    """The incidents of a service. The event loop's thread calls every method."""

    @property
    def is_on(self) -> bool:
        """Whether anything is noticed."""

    @property
    def last_change(self) -> int:
        """The ``seq`` of the newest change."""

    def document(self) -> IncidentsDocument:
        """The open incidents and the newest that are over."""

    def changes(self, since: int) -> Sequence[NumberedChange]:
        """The kept changes with ``seq > since``, oldest first."""


class View(Protocol):
    """The event loop's thread calls every method; each answers from memory and does not block."""

    def status(self, history: int = 0, pod: str = "") -> Status:
        """The status document. Its pods are those of this moment, each as it is when its part is made. ``history`` is
        how many of its last attempts each probe has; ``pod`` is the ``namespace/name`` of the only pod, empty for all
        pods."""

    def configz(self) -> Mapping[str, Any]:
        """The effective configuration, schema ``probelet-config/1``."""

    def events(self, since: int) -> Sequence[RecordedEvent]:
        """The kept events with ``seq > since``, oldest first. ``seq`` only increases: it is the reader's place in the
        stream, not a part of the event."""

    @property
    def incidents(self) -> IncidentFeed | None:
        """The incidents; None for a service that knows none."""

    def metrics(self) -> bytes:
        """The page ``/metrics`` in the Prometheus text format."""

    def metrics_pods(self) -> bytes:
        """The page ``/metrics/pods``: series with the names of pods and containers."""

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes`` in the Prometheus text format."""

    def ready(self) -> tuple[bool, str]:
        """Whether the service does its job, and if not, why in a few words (empty if it does)."""
