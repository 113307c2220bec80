"""How many exec attempts wait, have waited, and hang; with the series that show it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from probelet.base.exposition.family import counter, gauge
from probelet.runtime.execs.direct.counts import DirectCounts


@dataclass(slots=True)
class ExecCounts:
    """The counts of one ``RuntimeExecs``."""

    in_flight: int = 0
    """Attempts that Python has under way, over the runtime or through the helper."""
    waiting: int = 0
    """Attempts that wait for their turn (``max_in_flight``)."""
    hanging: int = 0
    """Calls that were given up and that the runtime has not ended (``single_flight``)."""
    waited: int = 0
    """Attempts that had to wait for their turn."""
    waited_ns: int = 0
    """How long those attempts waited, all together, on the engine's clock."""
    held_back: int = 0
    """Attempts that were never started because an earlier one still hung (``single_flight``)."""
    direct: DirectCounts = field(default_factory=DirectCounts)
    """The attempts of ``execMode: direct``."""

    def series(self) -> Iterator[str]:
        """The lines of ``/metrics``."""
        _, engines = self.direct.by_engine()
        for family, name, text, value in (
            (gauge, "in_flight", "that wait for the runtime or the helper", self.in_flight + engines),
            (gauge, "waiting", "that wait for their turn (execMaxInFlight)", self.waiting),
            (gauge, "hanging", "given up that still hang in the runtime (execSingleFlight)", self.hanging),
            (counter, "waited_total", "that had to wait for their turn", self.waited),
            (counter, "waited_seconds_total", "seconds spent waiting for their turn", self._waited_seconds()),
            (counter, "held_back_total", "never started behind one that hung (execSingleFlight)", self.held_back),
        ):
            yield from family(f"probelet_execs_{name}", f"Exec attempts: {text}.", value)
        yield from self.direct.series()

    def _waited_seconds(self) -> float:
        return round(self.waited_ns / 1e9, 6)
