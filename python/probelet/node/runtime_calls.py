"""Calls of the runtime, counted and timed, as Prometheus text."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from probelet.cri.errors import CriError

BUCKETS: Final = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
"""Seconds: a list takes 4 ms, an exec 20 ms, a sandbox 100 ms, a grace 30 s."""


@dataclass(slots=True)
class _Times:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0


class RuntimeCalls:
    """An observer of the CRI client. Labels are bounded by the calls and status codes there are."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str]] = Counter()
        self._times: dict[str, _Times] = {}

    def note(self, operation: str, seconds: float, error: CriError | None) -> None:
        """A call has ended."""
        self._calls[operation, "OK" if error is None else error.code] += 1
        times = self._times.setdefault(operation, _Times())
        times.counts[bisect_left(BUCKETS, seconds)] += 1
        times.seconds += seconds

    def render(self) -> bytes:
        """The series."""
        name = "probelet_runtime_calls_total"
        lines = [f"# HELP {name} CRI calls, by operation and status code.", f"# TYPE {name} counter"]
        for (operation, code), count in sorted(self._calls.items()):
            lines.append(f'{name}{{operation="{operation}",code="{code}"}} {count}')
        name = "probelet_runtime_call_duration_seconds"
        lines += [f"# HELP {name} How long CRI calls took.", f"# TYPE {name} histogram"]
        for operation, times in sorted(self._times.items()):
            total = 0
            for limit, count in zip([*map(str, BUCKETS), "+Inf"], times.counts, strict=True):
                total += count
                lines.append(f'{name}_bucket{{operation="{operation}",le="{limit}"}} {total}')
            lines.append(f'{name}_sum{{operation="{operation}"}} {times.seconds:.6f}')
            lines.append(f'{name}_count{{operation="{operation}"}} {total}')
        return ("\n".join(lines) + "\n").encode()
