"""Calls of a file system that may never return: a network file system whose server is gone, a file of a kernel module.

A call that hangs keeps its thread, which nothing can end. The thread is left behind, its key is not tried again before
the call returns, and the calls of the other keys go on in a new thread. The threads do not hold up the process's end.
"""

import asyncio
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

CALL_SECONDS: Final = 5.0
"""How long a call may take. A disk that has to start turns within that time."""

HANGING_MAX: Final = 32
"""Calls that may hang at once, each with its thread. Beyond that, no call is made before one of them returns."""


class FileCalls:
    """Makes calls of the file system, from one thread at a time. ``seconds`` is the limit of each call."""

    def __init__(self, seconds: float = CALL_SECONDS) -> None:
        self.seconds = seconds
        self._hanging: dict[Hashable, threading.Thread] = {}

    def hangs(self, key: Hashable) -> bool:
        """Whether the call of ``key`` hung when it was last made or wanted."""
        return key in self._hanging

    @property
    def exhausted(self) -> bool:
        """Whether so many calls hang that no more are made."""
        return len(self._hanging) >= HANGING_MAX

    def each(self, call: Callable[[K], T], keys: Iterable[K]) -> dict[K, T]:
        """The results of ``call`` by key, without the keys whose call hangs or is not made. Raises what a call
        raises."""
        self._hanging = {key: thread for key, thread in self._hanging.items() if thread.is_alive()}
        left = [key for key in dict.fromkeys(keys) if key not in self._hanging]
        results: dict[K, T] = {}
        while left and not self.exhausted:
            thread = _Calls(call, left)
            thread.start()
            results |= thread.results(self.seconds)
            left = left[len(thread.done) :]
            if left:
                self._hanging[left.pop(0)] = thread
        return results


class _Calls(threading.Thread, Generic[K, T]):
    """One thread that makes the calls in turn, until its results are given up."""

    def __init__(self, call: Callable[[K], T], keys: Sequence[K]) -> None:
        super().__init__(name="probelet-files", daemon=True)
        self._call = call
        self._keys = keys
        self._changed = threading.Condition()
        self._given_up = False
        self._error: BaseException | None = None
        self.done: dict[K, T] = {}

    def run(self) -> None:
        for key in self._keys:
            try:
                result = self._call(key)
            except BaseException as error:
                with self._changed:
                    self._error = error
                    self._changed.notify()
                return
            with self._changed:
                if self._given_up:
                    return
                self.done[key] = result
                self._changed.notify()

    def results(self, seconds: float) -> dict[K, T]:
        """The results up to the first call that takes longer than ``seconds``."""
        with self._changed:
            while len(self.done) < len(self._keys):
                before = len(self.done)
                moved = self._changed.wait_for(lambda: self._error or len(self.done) > before, seconds)  # noqa: B023
                if self._error is not None:
                    raise self._error
                if not moved:
                    self._given_up = True
                    break
            return self.done


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """The result of ``call``, made in a thread that does not hold up the process's end, unlike those of asyncio."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(set_outcome: Callable[[Any], None], outcome: object) -> None:
        if not future.done():
            set_outcome(outcome)

    def body() -> None:
        outcome: tuple[Callable[[Any], None], object]
        try:
            outcome = (future.set_result, call())
        except BaseException as error:
            outcome = (future.set_exception, error)
        # The loop may be closed by now.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, *outcome)

    threading.Thread(target=body, name="probelet-manifests", daemon=True).start()
    return await future
