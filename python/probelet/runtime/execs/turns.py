"""The turns of ``execMaxInFlight``: how many exec attempts of the node may be under way at once."""

import asyncio


class Turns:
    """At most ``limit`` attempts have a turn; others wait, first come, first served."""

    def __init__(self, limit: int) -> None:
        self._free = asyncio.Semaphore(limit)
        # Attempts that are over, and whose command is not, and whose turn has not been given back yet.
        self._kept = 0

    def are_taken(self) -> bool:
        """Whether the next attempt has to wait."""
        return self._free.locked()

    async def take(self) -> None:
        """Waits for a turn."""
        await self._free.acquire()

    def give_back(self) -> None:
        """An attempt is over. If a command outlives its attempt, the turn stays taken."""
        if self._kept:
            self._kept -= 1
        else:
            self._free.release()

    def keep(self) -> None:
        """A command outlives its attempt, whose turn has not been given back: it was killed and something holds it, for
        example a file system. All turns are equal, so the next one that is given back stays taken for it."""
        self._kept += 1

    def drop(self) -> None:
        """Such a command has ended."""
        self.give_back()
