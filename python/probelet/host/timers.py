"""The engine's clock and its wheel of deadlines, for code on the event loop: the one clock of the node."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any, Final, Protocol

from probelet.kube.waiting import done_within
from probelet.spec.text.duration import MILLISECOND, SECOND

NEVER_NS: Final = 2**64 - 1
"""The wheel's last moment, in 584 years. A grace of 2^63 seconds ends then, which is never."""


class Wheel(Protocol):
    """The part of ``Engine`` that keeps time: ``now`` in nanoseconds, monotonic; ``wall_ms`` in Unix milliseconds.
    Tokens come back in batches."""

    def now(self) -> int: ...
    def wall_ms(self) -> int: ...
    def arm(self, deadline_ns: int, token: int) -> int: ...
    def cancel(self, timer: int) -> bool: ...
    def when_journalled(self, token: int) -> None: ...


class Timers:
    """Callbacks by token. A timer fires once, on the event loop, never before its deadline."""

    def __init__(self, wheel: Wheel) -> None:
        self._wheel = wheel
        self._tokens = count(1)
        # A wait for the journal has no timer on the wheel.
        self._armed: dict[int, tuple[int | None, Callable[[], None]]] = {}

    def now(self) -> int:
        """Nanoseconds of the engine's clock."""
        return self._wheel.now()

    def seconds(self) -> float:
        """Seconds of the engine's clock."""
        return self._wheel.now() / SECOND

    def wall_ns(self) -> int:
        """Unix nanoseconds of the engine's wall clock, rounded down to a millisecond."""
        return self._wheel.wall_ms() * MILLISECOND

    def arm(self, deadline_ns: int, fire: Callable[[], None]) -> int:
        """Calls ``fire`` at ``deadline_ns``, at the latest at ``NEVER_NS``; returns the token for ``cancel``."""
        token = next(self._tokens)
        self._armed[token] = (self._wheel.arm(min(deadline_ns, NEVER_NS), token), fire)
        return token

    async def sleep(self, ns: int) -> None:
        """Waits ``ns`` nanoseconds of the engine's clock."""
        over = asyncio.Event()
        token = self.arm(self.now() + ns, over.set)
        try:
            await over.wait()
        finally:
            self.cancel(token)

    async def done_within(self, ns: int, awaited: "asyncio.Future[Any]") -> bool:
        """Waits for a future, at most ``ns`` nanoseconds of the engine's clock; returns whether it is done. Does not
        cancel it."""
        return await done_within(self, ns, awaited)

    async def journalled(self) -> None:
        """Waits until the engine's journal has on disk what the engine knows now. Without a journal, or with a
        disk that refuses a write or hangs, it returns all the same: a caller may not wait for ever."""
        over = asyncio.Event()
        token = next(self._tokens)
        self._armed[token] = (None, over.set)
        self._wheel.when_journalled(token)
        try:
            await over.wait()
        finally:
            self.cancel(token)

    def cancel(self, token: int) -> None:
        """Forgets a timer. Does nothing if it has fired, even if its token has not been read yet."""
        timer, _ = self._armed.pop(token, (None, None))
        if timer is not None:
            self._wheel.cancel(timer)

    def fire(self, token: int) -> None:
        """Calls back for a token that came from the wheel; ignores a token that was cancelled or has fired."""
        _, fire = self._armed.pop(token, (None, None))
        if fire is not None:
            fire()
