"""Reads the engine's own counters; it costs the engine a millisecond for any number of workers."""

import math
import re
from dataclasses import dataclass

from probelet._rust import Engine

ATTEMPTS = re.compile(rb'^probelet_probe_attempts_total\{cause="(\w+)"\} (\d+)$', re.MULTILINE)
LATENESS = re.compile(rb'^probelet_probe_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$', re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """Counters since the engine's start, or, as a difference, between two readings."""

    probes: int
    failures: int
    lateness: dict[float, int]
    """Upper bound in seconds -> the number of attempts that started at most that late."""

    def __sub__(self, earlier: "Reading") -> "Reading":
        lateness = {bound: count - earlier.lateness[bound] for bound, count in self.lateness.items()}
        return Reading(self.probes - earlier.probes, self.failures - earlier.failures, lateness)

    def lateness_ms(self, quantile: float) -> float:
        """The lateness quantile in milliseconds; it takes the attempts of a bucket as evenly spread. In the last
        bucket, which has no upper bound, it returns the lower one; without attempts 0."""
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
