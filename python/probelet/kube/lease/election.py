"""Decides about the leader from a lease as it was read. No I/O; time is an argument.

client-go tools/leaderelection/leaderelection.go (``tryAcquireOrRenew``, ``release``), 1.36. Laws:

1. A lease of another holder is left alone until it has been the same for its duration, by this process's own clock.
   Clocks of different machines are never compared.
2. Each lease to write has the resourceVersion that was read, so of two candidates one gets a Conflict.
"""

from dataclasses import dataclass
from typing import Any, Final

from probelet.base.exposition.timestamp import rfc3339_micro
from probelet.spec.text.duration import SECOND

DURATION_SECONDS: Final = 15
"""For how long a leader that is silent stays the leader (``LeaseDuration``)."""

RENEW_DEADLINE_NS: Final = 10 * SECOND
"""For how long a leader that cannot renew goes on leading (``RenewDeadline``); less than the duration."""

RETRY_NS: Final = 2 * SECOND
"""Between two tries (``RetryPeriod``)."""

RETRY_JITTER: Final = 1.2
"""A candidate waits so much longer by chance (``JitterFactor``)."""

Object = dict[str, Any]


@dataclass(slots=True)
class Election:
    """One candidate for one lease."""

    holder: str
    duration_seconds: int = DURATION_SECONDS
    _observed: Object | None = None
    _observed_ns: int = 0

    @property
    def leader(self) -> str:
        """The holder of the lease as it was last seen; empty if there is none."""
        return str(self._spec.get("holderIdentity") or "")

    @property
    def _spec(self) -> Object:
        return (self._observed or {}).get("spec") or {}

    def has_leader(self, now: int) -> bool:
        """Whether the Lease, as it was last seen, has a holder that renewed it within its duration."""
        return bool(self.leader) and now < self._observed_ns + self._lasts_ns()

    def observe(self, lease: Object | None, now: int) -> None:
        """Notes the lease as the server has it, None if there is none."""
        if lease is None or self._observed is None or _version(lease) != _version(self._observed):
            self._observed_ns = now
        self._observed = lease

    def bid(self, now: int, wall_ns: int) -> Object | None:
        """The spec to write, or None if another candidate leads."""
        leads = self.leader == self.holder
        if not leads and self.has_leader(now):
            return None
        at = rfc3339_micro(wall_ns)
        transitions = self._spec.get("leaseTransitions") or 0
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.duration_seconds,
            "acquireTime": (self._spec.get("acquireTime") if leads else None) or at,
            "renewTime": at,
            "leaseTransitions": transitions if leads or self._observed is None else transitions + 1,
        }

    def release(self, wall_ns: int) -> Object | None:
        """The spec that lets the next candidate lead within a second; None if this one does not lead."""
        if self.leader != self.holder:
            return None
        at = rfc3339_micro(wall_ns)
        transitions = self._spec.get("leaseTransitions") or 0
        # An API server refuses an empty holderIdentity only where a strategy is set; client-go writes it too.
        return {
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
            "acquireTime": at,
            "renewTime": at,
            "leaseTransitions": transitions,
        }

    def _lasts_ns(self) -> int:
        seconds = self._spec.get("leaseDurationSeconds")
        return (seconds if isinstance(seconds, int) and seconds > 0 else self.duration_seconds) * SECOND


def _version(lease: Object) -> str:
    return str(lease["metadata"].get("resourceVersion", ""))
