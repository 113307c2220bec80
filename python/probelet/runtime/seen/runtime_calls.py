"""Counts and times the calls of the runtime, as Prometheus text."""

from collections import Counter
from typing import Final

from probelet.base.exposition.family import counter, page
from probelet.base.exposition.histogram import Histogram
from probelet.runtime.cri.errors import CriError

BUCKETS: Final = tuple(0.005 * 2.5**step for step in range(14))
"""Seconds, from 5 ms to twelve minutes (kubelet metrics.go ``RuntimeOperationsDuration``, 1.36)."""


class RuntimeCalls:
    """An observer of the CRI client. Its labels are calls and status codes, so their number is bounded."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str]] = Counter()
        self._times = Histogram(
            "kubelet_runtime_operations_duration_seconds", "How long CRI calls took.", BUCKETS, "operation_type"
        )

    def observe(self, operation: str, seconds: float, error: CriError | None) -> None:
        """Takes a call that has ended; the histogram uses the kubelet's names, such as ``run_podsandbox``."""
        self._calls[operation, "OK" if error is None else error.code] += 1
        self._times.observe(seconds, operation.replace("pod_sandbox", "podsandbox"))

    def render(self) -> bytes:
        """The series."""
        calls = sorted(self._calls.items())
        text = "CRI calls, by operation and status code."
        return page(counter("probelet_runtime_calls_total", text, calls, "operation", "code"), self._times.render())
