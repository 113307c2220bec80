"""A look at the engine's own counters: it costs the engine a millisecond, however many workers it has."""

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
        """The bound, in milliseconds, that this part of the attempts did not exceed."""
        wanted = quantile * max(self.lateness.values(), default=0)
        return 1000 * min((bound for bound, count in self.lateness.items() if count >= wanted), default=0.0)


def read(engine: Engine) -> Reading:
    page = engine.metrics()
    attempts = {cause: int(count) for cause, count in ATTEMPTS.findall(page)}
    return Reading(
        probes=sum(attempts.values()),
        failures=sum(attempts.values()) - attempts[b"ok"],
        lateness={float(bound): int(count) for bound, count in LATENESS.findall(page)},
    )
