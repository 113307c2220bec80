"""The clock that the parts of this package get, so that a test can put it forward."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Monotonic and wall time in nanoseconds. ``host.timers.Timers`` is one on the engine's clock."""

    def now(self) -> int:
        """Monotonic nanoseconds."""
        ...

    def wall_ns(self) -> int:
        """Unix nanoseconds."""
        ...

    async def sleep(self, ns: int) -> None:
        """Waits ``ns`` nanoseconds of ``now``."""
        ...


class LoopClock:
    """The machine's clocks, for a process without an engine."""

    def now(self) -> int:
        """Monotonic nanoseconds."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Unix nanoseconds."""
        return time.time_ns()

    async def sleep(self, ns: int) -> None:
        """Waits ``ns`` nanoseconds."""
        await asyncio.sleep(ns / 1_000_000_000)
