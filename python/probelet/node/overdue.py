"""How late our event loop is while exec attempts are in flight: their deadlines are its timers."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

BEAT_SECONDS: Final = 0.05
"""As often as the engine's own loop (rust/engine/src/live/time/overdue.rs)."""


class Overdue:
    """Adds up the time in which the loop should have turned and had not. It turns every beat while somebody watches."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._watchers = 0
        self._due: float | None = None
        self._before = 0.0
        self._beat: asyncio.TimerHandle | None = None

    def begin(self) -> float:
        """Somebody watches from now on, on the running loop; returns the total so far."""
        self._watchers += 1
        if self._watchers == 1:
            self._turn()
        return self.total()

    def end(self) -> None:
        """Somebody watches no more."""
        self._watchers -= 1
        if not self._watchers:
            self._before, self._due = self.total(), None
            if self._beat is not None:
                self._beat.cancel()

    def total(self) -> float:
        """Seconds until now; what lies between two moments is the difference of their totals."""
        return self._before + (0.0 if self._due is None else max(0.0, self._now() - self._due))

    def _turn(self) -> None:
        self._before, self._due = self.total(), self._now() + BEAT_SECONDS
        self._beat = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._turn)
