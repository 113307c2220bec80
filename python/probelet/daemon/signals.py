"""The lifetime of ``run``: until a signal or a deadline. A second signal hurries the end, a third one exits."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any

from probelet.errors import DaemonError

# SIGHUP too: without its terminal the run has no user.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Lifetime:
    """Counts the signals inside a running event loop.

    The first requests the end, the second an immediate end. The third calls ``leave(128 + number)``, which does not
    return in production: the sender no longer trusts the program to end.
    """

    def __init__(self, leave: Callable[[int], object] = os._exit) -> None:
        loop = asyncio.get_running_loop()
        self._asked: asyncio.Future[signal.Signals] = loop.create_future()
        self._hurried: asyncio.Future[signal.Signals] = loop.create_future()
        self._leave = leave

    def __enter__(self) -> "Lifetime":
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.handle, number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    def handle(self, number: signal.Signals) -> None:
        """Reacts to one signal."""
        for future in (self._asked, self._hurried):
            if not future.done():
                future.set_result(number)
                return
        self._leave(128 + number)

    async def wait(self, seconds: float | None, *work: Coroutine[Any, Any, None]) -> str:
        """Runs ``work`` until a signal, or for at most ``seconds``; returns the reason of the end, in a word.

        The work should not end: if it raises, so does this; otherwise it is cancelled at the end.
        """
        tasks = [asyncio.ensure_future(part) for part in work]
        try:
            ends: list[asyncio.Future[Any]] = [*tasks, self._asked]
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return self._asked.result().name if self._asked.done() else "end of --duration"

    async def unless_hurried(self, drain: Coroutine[Any, Any, list[str]]) -> list[str] | signal.Signals:
        """The result of ``drain``, or the signal that hurried it; then ``drain`` is cancelled."""
        task = asyncio.ensure_future(drain)
        ends: list[asyncio.Future[Any]] = [task, self._hurried]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        task.cancel()
        return self._hurried.result()


async def until_death(run: Awaitable[None], what: str, log: Any) -> None:
    """Waits until ``run`` raises because a part of ``what`` has failed. Raises DaemonError."""
    try:
        await run
    except Exception as error:
        log.exception(f"a part of the {what} failed")
        raise DaemonError(f"the {what} died: {type(error).__name__}: {error}") from error
