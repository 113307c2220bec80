"""Which pod statuses the kubelet would write to the API server, and when."""

from collections import Counter
from typing import Final

from probelet._rust import TokenBucket
from probelet.spec.text.duration import SECOND

BURST_FACTOR: Final = 2
"""The kubelet's kubeAPIBurst is twice its kubeAPIQPS by default (100 and 50; before 1.27 10 and 5)."""

SLOT_NS: Final = 10 * SECOND
"""KEP-4603 counts requests per ten seconds."""


class ApiSink:
    """Counts status writes as the kubelet's status manager makes them (status_manager.go:syncBatch, 1.36).

    A status that is equal to the one before is not written. Pods wait for the client's token bucket in turn, and each
    then writes its newest status; the statuses in between never reach the API server. ``qps`` 0 never limits.
    """

    def __init__(self, qps: int) -> None:
        self._refill_ns = SECOND // qps if qps else 0
        self._bucket = TokenBucket(burst=max(1, qps * BURST_FACTOR), interval_ns=self._refill_ns)
        self._known: dict[str, object] = {}
        self._waiting: dict[str, int] = {}
        self.changes = 0
        """Statuses that differed from the one before."""
        self.writes = 0
        """Statuses that were written."""
        self.waiting_max = 0
        """The largest number of pods that waited at the same time."""
        self.writes_in: Counter[int] = Counter()
        """Writes by slot of ten seconds."""
        self.ages_ns: list[int] = []
        """How long after the first change that it shows each write came."""

    def offer(self, now: int, pod: str, status: object) -> None:
        """Take the status that the pod has published."""
        if self._known.get(pod) == status:
            return
        self._known[pod] = status
        self.changes += 1
        self._waiting.setdefault(pod, now)
        self.waiting_max = max(self.waiting_max, len(self._waiting))

    def forget(self, pod: str) -> None:
        """Drop a pod that is gone."""
        self._known.pop(pod, None)
        self._waiting.pop(pod, None)

    def write(self, now: int) -> int | None:
        """Write what may be written at ``now``; returns when to come again, None if nothing waits."""
        while self._waiting:
            if not self._bucket.take(now):
                return now + self._refill_ns
            pod = next(iter(self._waiting))
            self.ages_ns.append(now - self._waiting.pop(pod))
            self.writes += 1
            self.writes_in[now // SLOT_NS] += 1
        return None
