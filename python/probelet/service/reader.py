"""Readers of a stream, each with a bounded queue."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from probelet.service.error import RequestError
from probelet.service.limit import READERS_MAX

T = TypeVar("T")


class Reader(Generic[T]):
    """The queue of one reader. ``lost`` counts the items that it was too slow for since the last ``get``."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._waiting: deque[T] = deque()
        self._news = asyncio.Event()
        self.lost = 0

    def put(self, item: T) -> None:
        """Adds an item; if the queue is full, drops the oldest."""
        if len(self._waiting) == self._kept:
            self._waiting.popleft()
            self.lost += 1
        self._waiting.append(item)
        self._news.set()

    async def get(self) -> tuple[list[T], int]:
        """Waits for at least one item; returns all that wait, and how many before them were lost."""
        await self._news.wait()
        self._news.clear()
        items, lost = list(self._waiting), self.lost
        self._waiting.clear()
        self.lost = 0
        return items, lost


class Readers(Generic[T]):
    """All readers of one stream."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._readers: set[Reader[T]] = set()

    @contextmanager
    def reader(self) -> Iterator[Reader[T]]:
        """A reader that gets every item until the context ends. Raises RequestError if there are too many already."""
        if len(self._readers) >= READERS_MAX:
            raise RequestError("RESOURCE_EXHAUSTED", f"{READERS_MAX} streams of this kind are open already")
        reader: Reader[T] = Reader(self._kept)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def put(self, item: T) -> None:
        """Adds an item for every reader."""
        for reader in self._readers:
            reader.put(item)
