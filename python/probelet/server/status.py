"""Documents and pages, made in pieces: those of thousands of pods take longer than a probe may be late."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

import msgspec

from probelet.server.document.status import PodDocument, StatusHead
from probelet.server.limit import PIECE_SECONDS

T = TypeVar("T")


class Status(msgspec.Struct, frozen=True):
    """The status document, schema ``probelet-status/1``. ``pods`` makes each pod's part when it is asked for."""

    head: StatusHead
    pods: Iterator[PodDocument]

    def document(self) -> dict[str, Any]:
        """The whole document, in one piece."""
        return {**self.head, "pods": list(self.pods)}


async def status_json(status: Status) -> bytes:
    """The whole document as JSON."""
    # `pods` is the last key of the document.
    begin = msgspec.json.encode({**status.head, "pods": ()})
    rows = await in_pieces(map(msgspec.json.encode, status.pods))
    return begin.removesuffix(b"]}") + b",".join(rows) + b"]}"


async def in_pieces(items: Iterator[T], now: Callable[[], float] = time.monotonic) -> list[T]:
    """The items, made for ``PIECE_SECONDS`` at a time: the event loop does its other work in between."""
    made: list[T] = []
    began = now()
    for item in items:
        made.append(item)
        if now() - began >= PIECE_SECONDS:
            await asyncio.sleep(0)
            began = now()
    return made


class OneAtATime:
    """Makes pages that need one piece: one in a turn of the event loop, however many readers ask at once."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def make(self, page: Callable[[], T]) -> T:
        """The page, once it is this reader's turn."""
        async with self._turn:
            made = page()
            await asyncio.sleep(0)
            return made


class SharedBuild(Generic[T]):
    """One build at a time, however many readers ask. A reader gets a build that began after it asked, because a command
    may have changed the state just before."""

    def __init__(self, build: Callable[[], Awaitable[T]]) -> None:
        self._build = build
        self._running: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """The value of a build that has not begun yet."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running))
        # A reader that leaves must not end the build of the others.
        return await asyncio.shield(self._next)

    async def _after(self, running: "asyncio.Task[T] | None") -> T:
        if running is not None:
            await asyncio.wait([running])
        self._running, self._next = self._next, None
        return await self._build()


class StatusBuilds:
    """The status document as JSON. Readers who ask for the same number of attempts share a build."""

    def __init__(self, status: Callable[[int], Status]) -> None:
        """``status`` begins a document in which each probe has so many of its last attempts."""
        self._status = status
        self._builds: dict[int, SharedBuild[bytes]] = {}

    async def get(self, history: int) -> bytes:
        """The document of a build that has not begun yet."""
        build = self._builds.get(history)
        if build is None:
            build = self._builds[history] = SharedBuild(lambda: status_json(self._status(history)))
        return await build.get()
