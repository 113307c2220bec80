"""Wakes a machine when it has something to do without a change."""

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

from probelet.kube.clock import Clock
from probelet.kube.waiting import done_within, ended

LEAST_NS: Final = 1_000_000
"""The shortest wait: other tasks run meanwhile, whatever a machine asks for."""


class Alarm:
    """Calls ``fire`` at ``deadline(now)``, and asks for the deadline again after each call of ``look``."""

    def __init__(self, clock: Clock, deadline: Callable[[int], int | None], fire: Callable[[], None]) -> None:
        self._clock = clock
        self._deadline = deadline
        self._fire = fire
        self._news = asyncio.Event()

    def look(self) -> None:
        """The machine has got an input, so its deadline may be another one."""
        self._news.set()

    async def run(self) -> NoReturn:
        """Waits and fires until the task is cancelled."""
        while True:
            self._news.clear()
            now = self._clock.now()
            at = self._deadline(now)
            if at is None:
                await self._news.wait()
                continue
            news = asyncio.ensure_future(self._news.wait())
            try:
                if not await done_within(self._clock, max(LEAST_NS, at - now), news):
                    self._fire()
            finally:
                await ended(news)
