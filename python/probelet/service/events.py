"""The prober's events, for callers that follow them."""

from collections.abc import AsyncIterator, Callable

from probelet._rust import EventRecord
from probelet.service.limit import EVENTS_KEPT
from probelet.service.reader import Readers
from probelet.service.v1 import prober_pb2


class Events:
    """Passes each event to the present readers; a reader that comes later gets only later events. ``message`` words
    an event."""

    def __init__(self, message: Callable[[EventRecord], str]) -> None:
        self._message = message
        self._readers: Readers[EventRecord] = Readers(EVENTS_KEPT)

    def record(self, event: EventRecord) -> None:
        """Passes one event to the readers."""
        self._readers.put(event)

    async def follow(self) -> AsyncIterator[prober_pb2.Event]:
        """Every event from now on; the first event after a gap says how many are missing."""
        with self._readers.reader() as reader:
            while True:
                events, lost = await reader.get()
                for number, event in enumerate(events):
                    yield prober_pb2.Event(
                        at_ms=event.at_ms,
                        pod_uid=event.pod_uid,
                        field_path=event.field_path,
                        type=event.type,
                        reason=event.reason,
                        message=self._message(event),
                        dropped=lost if number == 0 else 0,
                    )
