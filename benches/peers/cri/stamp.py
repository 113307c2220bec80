"""The lateness of calls: the time when each one reached the runtime, less the time when it was due."""

import statistics
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Load:
    """The load for a prober. Times are in seconds; ``socket`` is the runtime's path."""

    socket: str
    workers: int
    period: int
    warm: int
    duration: int


@dataclass
class Stamps:
    """The calls since the last ``clear``."""

    failed: int = 0
    late_ns: list[int] = field(default_factory=list)

    @property
    def probes(self) -> int:
        return len(self.late_ns) + self.failed

    def answered(self, due_ns: int, came: bytes) -> None:
        """Adds a call that succeeded: when it was due and when it reached the runtime, both by the monotonic clock."""
        self.late_ns.append(int(came) - due_ns)

    def clear(self) -> None:
        self.failed, self.late_ns = 0, []

    def late_ms(self) -> dict[str, float]:
        """Returns None if no call was answered."""
        if len(self.late_ns) < 2:
            return {}
        percentiles = statistics.quantiles(self.late_ns, n=100, method="inclusive")
        found = {"p50": percentiles[49], "p99": percentiles[98], "max": max(self.late_ns)}
        return {name: round(value / 1e6, 3) for name, value in found.items()}
