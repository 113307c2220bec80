"""Wakes a machine when it has something to do without a change."""

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

from probelet.kube.clock import Clock
from probelet.kube.waiting import set_within

LEAST_NS: Final = 1_000_000
"""The shortest wait: other tasks run meanwhile, whatever a machine asks for."""


class Alarm:
    """Calls ``fire`` at ``deadline(now)``, and asks for the deadline again after each call of ``rearm``."""

    def __init__(self, clock: Clock, deadline: Callable[[int], int | None], fire: Callable[[], None]) -> None:
        self._clock = clock
        self._deadline = deadline
        self._fire = fire
        self._input = asyncio.Event()

    def rearm(self) -> None:
        """The machine has got an input, so its deadline may be another one."""
        self._input.set()

    async def run(self) -> NoReturn:
        """Waits and fires until the task is cancelled."""
        while True:
            self._input.clear()
            now = self._clock.now()
            at = self._deadline(now)
            if at is None:
                await self._input.wait()
                continue
            if not await set_within(self._clock, max(LEAST_NS, at - now), self._input):
                self._fire()
