"""Where the page has its rows from: the pods of a service, or the nodes of a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec

from probelet.server.document.event import RecordedEvent
from probelet.server.pages.rows import Row, pod_row
from probelet.server.view import IncidentFeed, View


class Words(msgspec.Struct, frozen=True):
    """The words of the page for its rows."""

    noun: str
    """One of them: ``pod``."""
    good: str
    """The word for a good one: ``ready``."""
    empty: str
    """The sentence for no rows."""
    beats: str
    """``attempts`` or ``times``: what a beat stands for."""


class Told(msgspec.Struct, frozen=True):
    """Everything that the page shows of one moment."""

    head: Mapping[str, Any]
    """``node``, ``as_of``, and of a status document ``incidents``, ``incidents_total`` and the mistakes."""
    rows: Iterator[Row]
    words: Words
    about: Sequence[str] = msgspec.field(default=())
    """Sentences above the rows: what differs here, and what is missing."""


class PageSource(Protocol):
    """The event loop's thread calls every method; each answers from memory and does not block."""

    def told(self) -> Told:
        """This moment; a row is made when it is asked for."""

    @property
    def incidents(self) -> IncidentFeed | None:
        """The incidents; None for a service that knows none."""

    def events(self, since: int) -> Sequence[RecordedEvent]:
        """The kept events with ``seq > since``, oldest first."""


PODS = Words("pod", "ready", "This node has no pods.", "attempts")
NODES = Words("node", "well", "No node has probes of enhanced liveness.", "times")


class PodRows:
    """The pods of a view."""

    def __init__(self, view: View) -> None:
        self._view = view

    def told(self) -> Told:
        """Each pod as it is when its row is made."""
        status = self._view.status()
        as_of = datetime.fromisoformat(status.head["as_of"])
        rows = (pod_row(dict(pod), as_of) for pod in status.pods)
        return Told(status.head, rows, PODS, status.head.get("drifts", ()))

    @property
    def incidents(self) -> IncidentFeed | None:
        """The incidents of the view."""
        return self._view.incidents

    def events(self, since: int) -> Sequence[RecordedEvent]:
        """The events of the view."""
        return self._view.events(since)
