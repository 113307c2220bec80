"""Container events for any number of readers, none of whom can hold up the runtime."""

import asyncio
from collections.abc import AsyncIterator

from probelet.cri import errors
from probelet.cri.v1 import api_pb2

EVENTS_WAITING_MAX = 1024
"""Per reader: five events for each of 200 containers. A reader further behind must list again anyway."""

READERS_MAX = 16
"""A node has one reader; a few more may watch."""


class EventReader:
    """One reader's events, from its subscription on. Iteration raises ResourceExhausted where events were lost."""

    def __init__(self, readers: "set[EventReader]") -> None:
        self._readers = readers
        self._waiting: asyncio.Queue[api_pb2.ContainerEventResponse | None] = asyncio.Queue()
        readers.add(self)

    def offer(self, event: api_pb2.ContainerEventResponse) -> None:
        """Queue an event; a reader that has no room for it is cut off."""
        if self._waiting.qsize() < EVENTS_WAITING_MAX:
            self._waiting.put_nowait(event)
        else:
            # The mark of the end comes after all that was before the gap.
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
        """Take no more events."""
        self._readers.discard(self)


class Events:
    """Hands each event to every reader's own queue."""

    def __init__(self) -> None:
        self._readers: set[EventReader] = set()

    @property
    def wanted(self) -> bool:
        """Whether anybody reads; composing an event costs a pod status."""
        return bool(self._readers)

    def publish(self, event: api_pb2.ContainerEventResponse) -> None:
        """Queue an event for every reader."""
        for reader in list(self._readers):
            reader.offer(event)

    def subscribe(self) -> EventReader:
        """A reader of every event from now on. Raises ResourceExhausted when there are ``READERS_MAX``."""
        if len(self._readers) >= READERS_MAX:
            raise errors.ResourceExhausted(f"{READERS_MAX} readers of container events already")
        return EventReader(self._readers)
