"""The life of a stand-in: when it is up, and how long each answer takes."""

import asyncio
import math
import random
import time
from collections.abc import Callable

from probelet.runtime.embedded.stand_in.plan import Behaviour, Trouble


class Life:
    """One process. ``begin`` is when it started; what was to happen before that happens to the process before it."""

    def __init__(self, behaviour: Behaviour, source: random.Random, now: Callable[[], float] = time.monotonic) -> None:
        self._behaviour = behaviour
        self._source = source
        self._now = now
        self._begin = now()
        # Each process has a phase of its own in the period of its pauses.
        self._phase = source.random()

    def starts_after(self) -> float:
        """How long the start takes."""
        late = sum(each.lasts for each in self._of("startup-slow") if self._is_on(each, self._begin))
        return self._behaviour.startup.draw(self._source) + late

    def exits(self) -> Trouble | None:
        """The trouble that ends the process, with the moment ``at``."""
        coming = [each for each in self._of("exit") if each.at >= self._begin]
        return min(coming, key=lambda each: each.at, default=None)

    async def answer(self) -> None:
        """Waits as long as an answer takes; for ever if none comes."""
        await asyncio.sleep(self._behaviour.latency.draw(self._source))
        wait = self.blocked_for()
        if wait == math.inf:
            await asyncio.Event().wait()
        await asyncio.sleep(wait)

    def blocked_for(self) -> float:
        """How long the process answers nothing from now on."""
        now = self._now()
        waits = [0.0]
        for each in self._of("deadlock"):
            # A restart mends a deadlock.
            if each.at >= self._begin and self._is_on(each, now):
                waits.append(math.inf if each.until is None else each.until - now)
        for each in self._of("gc-pause"):
            if self._is_on(each, now):
                within = (now - each.at + self._phase * each.every) % each.every
                waits.append(each.lasts - within)
        return max(waits)

    def _of(self, kind: str) -> list[Trouble]:
        return [each for each in self._behaviour.troubles if each.kind == kind]

    @staticmethod
    def _is_on(trouble: Trouble, moment: float) -> bool:
        return trouble.at <= moment and (trouble.until is None or moment < trouble.until)
