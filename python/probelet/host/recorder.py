"""The newest events of the node for its own pages, with the limits of the kubelet's recorder."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from probelet.base.exposition.timestamp import rfc3339
from probelet.kube.events.correlator import Correlator, EventType, Same, Similar
from probelet.server.document.event import RecordedEvent

EVENTS_MAX: Final = 10_000
"""How many events are kept: an hour of a node of 200 pods in which everything fails. An API server keeps an event for
an hour."""


class EventSink(Protocol):
    """Takes every event about a pod before the recorder's limits, to limit them itself."""

    def __call__(
        self, uid: str, pod: str, type: EventType, reason: str, message: str, field_path: str, /, *, shown: str
    ) -> None: ...


class Recorder:
    """Takes events, keeps the newest ``EVENTS_MAX``, and calls the listeners with each event that is not dropped.

    ``now`` is the engine's clock in nanoseconds, ``wall_ms`` Unix milliseconds.
    """

    def __init__(self, now: Callable[[], int], wall_ms: Callable[[], int]) -> None:
        self.dropped = 0
        """Events that the spam filter dropped."""
        self.listeners: list[Callable[[str, RecordedEvent], None]] = []
        """Called with the pod's UID and each event as ``events`` would return it."""
        self.sinks: list[EventSink] = []
        self._now = now
        self._wall_ms = wall_ms
        self._seq = 0
        # By the fields that make two events equal; a repetition moves to the end with its count.
        self._kept: OrderedDict[Same | Similar, RecordedEvent] = OrderedDict()
        self._correlator = Correlator()

    def record(
        self,
        uid: str,
        pod: str,
        type: EventType,
        reason: str,
        message: str,
        field_path: str = "",
        at_ms: int = 0,
        *,
        shown: str = "",
    ) -> None:
        """Records one event about a pod (``namespace/name``) or, with a field path, about one of its containers.

        If ``shown`` is given, people read it in place of ``message``. ``message`` alone decides which events are equal
        or similar, so that another wording merges, keeps and drops the same events.
        """
        for sink in self.sinks:
            sink(uid, pod, type, reason, message, field_path, shown=shown)
        found = self._correlator.correlate(self._now(), uid, type, reason, message, field_path)
        if found is None:
            self.dropped += 1
            return
        self._seq += 1
        event: RecordedEvent = {
            "seq": self._seq,
            "schema": "probelet-event/1",
            "at": rfc3339(at_ms or self._wall_ms()),
            "type": type,
            "reason": reason,
            "message": found.message(shown or message),
            "object": pod,
            "field_path": field_path,
            "count": found.count,
        }
        self._kept.pop(found.key, None)
        self._kept[found.key] = event
        if len(self._kept) > EVENTS_MAX:
            self._kept.popitem(last=False)
        for listener in self.listeners:
            listener(uid, event)

    def events(self, since: int = 0) -> list[RecordedEvent]:
        """The events kept with ``seq > since``, oldest first."""
        found = []
        for event in reversed(self._kept.values()):
            if event["seq"] <= since:
                break
            found.append(event)
        found.reverse()
        return found
