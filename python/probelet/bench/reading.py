"""A look at the engine's own counters: it costs the engine a millisecond, however many workers it has."""

import math
import re
from dataclasses import dataclass

from probelet._rust import Engine

ATTEMPTS = re.compile(rb'^probelet_probe_attempts_total\{cause="(\w+)"\} (\d+)$', re.MULTILINE)
LATENESS = re.compile(rb'^probelet_probe_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$', re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """Counters since the engine began, or, as a difference, between two looks."""

    probes: int
    failures: int
    lateness: dict[float, int]
    """How many attempts began at most so many seconds late, by upper bound."""

    def __sub__(self, earlier: "Reading") -> "Reading":
        lateness = {bound: count - earlier.lateness[bound] for bound, count in self.lateness.items()}
        return Reading(self.probes - earlier.probes, self.failures - earlier.failures, lateness)

    def lateness_ms(self, quantile: float) -> float:
        """What this part of the attempts did not exceed, in milliseconds, as if those of a bucket were spread evenly
        over it. The last bucket has no upper bound, so its lower one is said; 0 without an attempt."""
        wanted = quantile * max(self.lateness.values(), default=0)
        lower, below = 0.0, 0
        for bound, count in sorted(self.lateness.items()):
            if count >= wanted and count > below:
                part = 0.0 if math.isinf(bound) else (bound - lower) * (wanted - below) / (count - below)
                return 1000 * (lower + part)
            lower, below = (lower if math.isinf(bound) else bound), count
        return 1000 * lower if below else 0.0


def read(engine: Engine) -> Reading:
    page = engine.metrics()
    attempts = {cause: int(count) for cause, count in ATTEMPTS.findall(page)}
    return Reading(
        probes=sum(attempts.values()),
        failures=sum(attempts.values()) - attempts[b"ok"],
        lateness={float(bound): int(count) for bound, count in LATENESS.findall(page)},
    )
