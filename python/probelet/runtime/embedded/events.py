"""Container events for several readers; a slow reader does not hold up the runtime."""

import asyncio
from collections.abc import AsyncIterator

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

EVENTS_WAITING_MAX = 1024
"""Queue of a reader: five events for each of 200 containers. A reader further behind must list again anyway."""

READERS_MAX = 16
"""A node has one reader; a few others may watch."""


class EventReader:
    """The events since a reader's subscription. Iteration raises ResourceExhausted at the first lost event."""

    def __init__(self, readers: "set[EventReader]") -> None:
        self._readers = readers
        self._waiting: asyncio.Queue[api_pb2.ContainerEventResponse | None] = asyncio.Queue()
        readers.add(self)

    def offer(self, event: api_pb2.ContainerEventResponse) -> None:
        """Queues an event; ends the subscription if the queue is full."""
        if self._waiting.qsize() < EVENTS_WAITING_MAX:
            self._waiting.put_nowait(event)
        else:
            # The end marker follows all events before the gap.
            self._waiting.put_nowait(None)
            self._readers.discard(self)

    def __aiter__(self) -> AsyncIterator[api_pb2.ContainerEventResponse]:
        return self

    async def __anext__(self) -> api_pb2.ContainerEventResponse:
        event = await self._waiting.get()
        if event is None:
            raise errors.ResourceExhausted(f"the reader is {EVENTS_WAITING_MAX} events behind: list again")
        return event

    async def aclose(self) -> None:
        """Ends the subscription."""
        self._readers.discard(self)


class Events:
    """Distributes events to the readers' queues."""

    def __init__(self) -> None:
        self._readers: set[EventReader] = set()

    @property
    def wanted(self) -> bool:
        """True if there is a reader; building an event costs a pod status."""
        return bool(self._readers)

    def publish(self, event: api_pb2.ContainerEventResponse) -> None:
        """Queues an event for every reader."""
        for reader in list(self._readers):
            reader.offer(event)

    def subscribe(self) -> EventReader:
        """Returns a reader of all later events. Raises ResourceExhausted if ``READERS_MAX`` exist."""
        if len(self._readers) >= READERS_MAX:
            raise errors.ResourceExhausted(f"{READERS_MAX} readers of container events already")
        return EventReader(self._readers)
