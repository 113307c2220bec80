"""The waits of one client of an API server between its tries.

The server may have been away for minutes: each client then waits for up to a minute more. Another request of the same
process, such as that of a Lease every two seconds, may succeed first; its caller then ends the waits with ``hurry``.
"""

import asyncio

from probelet.kube.clock import Clock
from probelet.kube.error import KubeError, Unreachable
from probelet.kube.pace import Pace
from probelet.kube.waiting import set_within


class Retry:
    """The waits of ``pace``, by the clock."""

    def __init__(self, clock: Clock, pace: Pace) -> None:
        self._clock = clock
        self._pace = pace
        self._answers = asyncio.Event()

    def hurry(self) -> None:
        """The server answers others: ends the wait of a client that got no answer, and no wait that the server asked
        for."""
        self._answers.set()

    async def after(self, error: KubeError | None = None) -> None:
        """Waits as long as a failure demands. Without ``error`` the server may be out of reach, for all that is known
        here."""
        wait = self._pace.after_failure(self._clock.now(), 0 if error is None else error.retry_after_ns)
        if error is None or isinstance(error, Unreachable):
            self._answers.clear()
            await set_within(self._clock, wait, self._answers)
        else:
            await self._clock.sleep(wait)

    async def briefly(self) -> None:
        """Waits as after a first failure, after what is none: clients of one server must not come all at once."""
        await self._clock.sleep(self._pace.first())
