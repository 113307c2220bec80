"""How often the probe results of one pod may ask for a sync of it."""

from typing import Final

from probelet._rust import TokenBucket
from probelet.spec.text.duration import SECOND

SYNC_BURST: Final = 20
"""Syncs that results may ask for at once: a few for each probe of a large pod."""

SYNC_REFILL_NS: Final = SECOND
"""Then one a second. The kubelet has no such limit, and a Never pod one of whose containers has ended while another
runs on keeps it busy for ever: each sync makes a worker that publishes Failure, which asks for a sync, and ends."""


class SyncRequests:
    """The requests of one pod. Requests that come while one waits are one with it. ``now`` is in nanoseconds."""

    def __init__(self) -> None:
        self._bucket = TokenBucket(burst=SYNC_BURST, interval_ns=SYNC_REFILL_NS)
        self._waiting = False

    def ask(self, now: int) -> int | None:
        """When to sync: now or later. None if a sync that waits already will do."""
        if self._waiting:
            return None
        if self._bucket.take(now):
            return now
        self._waiting = True
        return now + SYNC_REFILL_NS

    def begin(self, now: int) -> None:
        """The sync that waited begins."""
        self._waiting = False
        self._bucket.take(now)
