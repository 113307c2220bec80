"""Deadlines on the engine's wheel, for the event loop's side: one clock for everything."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Final, Protocol

NEVER_NS: Final = 2**64 - 1
"""The end of the wheel's time, 584 years on: a grace of 2^63 seconds is over then, which is never."""


class Wheel(Protocol):
    """The part of ``Engine`` that keeps time. Nanoseconds, monotonic."""

    def now(self) -> int: ...
    def arm(self, deadline_ns: int, token: int) -> int: ...
    def cancel(self, timer: int) -> bool: ...


class Timers:
    """Callbacks by token. A timer fires once, on the event loop, never before its deadline."""

    def __init__(self, wheel: Wheel) -> None:
        self._wheel = wheel
        self._tokens = count(1)
        self._armed: dict[int, tuple[int, Callable[[], None]]] = {}

    def now(self) -> int:
        """Nanoseconds of the engine's clock."""
        return self._wheel.now()

    def arm(self, deadline_ns: int, fire: Callable[[], None]) -> int:
        """Call ``fire`` at a time, at the latest at ``NEVER_NS``; returns the token for ``cancel``."""
        token = next(self._tokens)
        self._armed[token] = (self._wheel.arm(min(deadline_ns, NEVER_NS), token), fire)
        return token

    async def sleep(self, ns: int) -> None:
        """Wait so many nanoseconds of the engine's clock."""
        over = asyncio.Event()
        token = self.arm(self.now() + ns, over.set)
        try:
            await over.wait()
        finally:
            self.cancel(token)

    def cancel(self, token: int) -> None:
        """Forget a timer. One that has fired, also one whose token is still on its way here, is left alone."""
        timer, _ = self._armed.pop(token, (None, None))
        if timer is not None:
            self._wheel.cancel(timer)

    def fire(self, token: int) -> None:
        """A token came back from the wheel."""
        _, fire = self._armed.pop(token, (None, None))
        if fire is not None:
            fire()
