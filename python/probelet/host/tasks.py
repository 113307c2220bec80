"""Background tasks whose failures end the service instead of being lost."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """A set of tasks. The first unexpected exception of any of them is what ``failure`` raises."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()
        self._failed = asyncio.Event()
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs ``work`` until it ends or ``close`` is called."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def failure(self) -> None:
        """Waits until a task has failed, and raises its exception."""
        await self._failed.wait()
        assert self._failure is not None, "the event is set together with it"
        raise self._failure

    async def close(self) -> None:
        """Cancels all tasks and waits for their end."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if self._failure is None:
            self._failure = error
        self._failed.set()
