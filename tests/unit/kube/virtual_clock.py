"""A clock that a test puts forward, for code that also waits for real sockets."""

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

from tests.support.patience import PATIENCE_SECONDS

SECOND = 1_000_000_000


class VirtualClock:
    """Time stands still until ``advance``. It begins at one day, as the engine's clock does."""

    def __init__(self) -> None:
        self._now = 86_400 * SECOND
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> int:
        return self._now

    def wall_ns(self) -> int:
        return 1_795_000_000 * SECOND + self._now

    async def sleep(self, ns: int) -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + ns, next(self._order), over))
        await over

    def advance(self, ns: int) -> None:
        """Puts the clock forward and wakes what is due."""
        self._now += ns
        while self._sleepers and self._sleepers[0][0] <= self._now:
            _, _, over = heapq.heappop(self._sleepers)
            if not over.done():
                over.set_result(None)

    def pending(self) -> list[int]:
        """How long each sleeper still has to wait, in nanoseconds."""
        return sorted(due - self._now for due, _, over in self._sleepers if not over.done())

    def sleeps(self, ns_max: int) -> bool:
        """Whether something sleeps for at most so long."""
        return any(left <= ns_max for left in self.pending())


async def until(holds: Callable[[], bool]) -> None:
    """Lets the event loop run until something holds, for at most so long as a busy machine may need."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0)
