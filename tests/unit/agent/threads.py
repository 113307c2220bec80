"""The threads on which an agent writes its files, so that a test's clock can wait for them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Threads(ThreadPoolExecutor):
    """The loop's executor, which knows what it has not finished."""

    def __init__(self) -> None:
        super().__init__(max_workers=4)
        self._unfinished: set[Future[Any]] = set()

    def submit(self, work: Callable[..., Any], /, *args: Any, **options: Any) -> "Future[Any]":
        future = super().submit(work, *args, **options)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    async def rest(self) -> None:
        """Waits until no work is left and everybody who waited for it has gone on."""
        while unfinished := list(self._unfinished):
            await asyncio.wait([asyncio.wrap_future(future) for future in unfinished])
            await asyncio.sleep(0)
            await asyncio.sleep(0)
