"""How late the event loop is while exec attempts are in flight. Their deadlines are timers of the loop, so a deadline
that passes while the loop stands still is probelet's fault and not the command's."""

import asyncio
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from probelet.runtime.cri.exec import ExecOutcome

BEAT_SECONDS: Final = 0.05
"""The engine's own loop beats as often (rust/engine/src/live/time/overdue.rs)."""


class Overdue:
    """Adds up the time in which the loop should have turned and did not. While attempts are in flight, the loop turns
    at least once a beat; without attempts nothing wakes it.

    ``now`` is in seconds, on the event loop's clock ``loop_time``.
    """

    def __init__(self, loop_time: Callable[[], float]) -> None:
        self._loop_time = loop_time
        self._attempts = 0
        self._due: float | None = None
        self._before = 0.0
        self._beat: asyncio.TimerHandle | None = None

    def begin(self, now: float) -> float:
        """Begins to measure for one more attempt, on the running loop; returns the total so far."""
        self._attempts += 1
        if self._attempts == 1:
            self._turn(now)
        return self.total(now)

    def end(self, now: float) -> float:
        """Ends the measurement for one attempt; the last one stops the beat. Returns the total so far."""
        total = self.total(now)
        self._attempts -= 1
        if not self._attempts:
            self._before, self._due = total, None
            if self._beat is not None:
                self._beat.cancel()
        return total

    def total(self, now: float) -> float:
        """Seconds overdue until ``now``. The difference of two totals is what lies between the two moments."""
        return self._before + (0.0 if self._due is None else max(0.0, now - self._due))

    def _turn(self, now: float) -> None:
        self._before, self._due = self.total(now), now + BEAT_SECONDS
        self._beat = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._next_turn)

    def _next_turn(self) -> None:
        self._turn(self._loop_time())


def judged(outcome: ExecOutcome, *, patience: float, spent: float, overdue: float, share: float) -> ExecOutcome:
    """Decides whose fault a timeout is. A timeout that the runtime reports is the command's. A timeout that probelet
    finds itself, after ``patience`` seconds, is starved if the loop was late by more than ``share`` of them."""
    if outcome.kind == "timeout" and spent >= patience and overdue > share * patience:
        return replace(outcome, kind="starved")
    return outcome
