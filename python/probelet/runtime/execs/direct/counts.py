"""How many attempts the helper carried out, and how many went over the runtime, with the series that show it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from probelet.base.exposition.family import counter
from probelet.runtime.execs.direct.fallback import Reason


@dataclass(slots=True)
class DirectCounts:
    """The counts of ``execMode: direct``."""

    attempts: int = 0
    """Attempts that Python gave to the helper and the helper carried out."""
    by_engine: Callable[[], tuple[int, int]] = lambda: (0, 0)
    """Attempts that the helper carried out for the engine itself, and those in flight."""
    fallbacks: Counter[Reason] = field(default_factory=Counter)
    """Attempts that went over the runtime."""
    starts: int = 0
    """Helpers that were started; more than one means that a helper ended or hung."""

    def series(self) -> Iterator[str]:
        """The lines of ``/metrics``."""
        yield from counter(
            "probelet_exec_direct_attempts_total",
            "Exec attempts that the helper carried out.",
            self.attempts + self.by_engine()[0],
        )
        yield from counter(
            "probelet_exec_direct_fallbacks_total",
            "Exec attempts that went over the runtime in direct mode.",
            ((reason, self.fallbacks[reason]) for reason in Reason),
            "reason",
        )
        yield from counter("probelet_exec_direct_helper_starts_total", "Helpers that were started.", self.starts)
