"""Which HTTP hooks run at once. Each takes a thread until its request ends, which may be a day."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

SHARED_MAX: Final = 256
"""How many hooks run beside the first one of each pod."""

PER_POD_MAX: Final = 16
"""How many of those one pod may have: one pod must not take them all."""


class HookSlots:
    """Each pod may always run one hook, so that no pod waits for the hooks of others; ``SHARED_MAX`` more run for all
    pods together. So there are at most as many threads as pods, and ``SHARED_MAX``."""

    def __init__(self) -> None:
        # By pod: whether its own slot is taken, and its waiting and running hooks beside that.
        self._own: set[str] = set()
        self._shared = asyncio.Semaphore(SHARED_MAX)
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}

    async def acquire(self, pod: str) -> Callable[[], None]:
        """Waits for a slot; returns what gives it back."""
        if pod not in self._own:
            self._own.add(pod)
            return partial(self._own.discard, pod)
        turns = self._turns.setdefault(pod, asyncio.Semaphore(PER_POD_MAX))
        self._users[pod] = self._users.get(pod, 0) + 1
        try:
            await turns.acquire()
            try:
                await self._shared.acquire()
            except BaseException:
                turns.release()
                raise
        except BaseException:
            self._leave(pod)
            raise
        return partial(self._give_back, pod)

    def _give_back(self, pod: str) -> None:
        self._shared.release()
        self._turns[pod].release()
        self._leave(pod)

    def _leave(self, pod: str) -> None:
        self._users[pod] -= 1
        if not self._users[pod]:
            del self._users[pod], self._turns[pod]
