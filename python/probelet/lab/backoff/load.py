"""The load of a node's crashing containers: restarts, and requests to the API server."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from probelet._rust import CrashLoad
from probelet.lab.backoff.curve import Curve
from probelet.lab.backoff.life import Life, model
from probelet.spec.text.duration import format_duration

REQUESTS_PER_RESTART: Final = 5
"""KEP-4603, Risks and Mitigations: "5 obvious /pods API server status updates", read off the code, not measured."""

SLOTS_MAX: Final = 1_000_000


@dataclass(frozen=True)
class Crowd:
    """Containers of one kind, whose first starts are spread evenly over ``spread_ns``."""

    curve: Curve
    containers: int
    life: Life = field(default_factory=Life)
    spread_ns: int = 0


@dataclass(frozen=True)
class Load:
    """The restarts within the window, both ends included."""

    window_ns: int
    slot_ns: int
    restarts: int
    slots: list[int]
    """Restarts per slot of ``slot_ns``: after its beginning up to its end; the first includes 0."""

    @property
    def per_second(self) -> float:
        """Mean rate over the window."""
        return self.restarts * 1e9 / self.window_ns

    @property
    def peak_per_second(self) -> float:
        """Mean rate over the busiest slot."""
        return max(self.slots) * 1e9 / min(self.slot_ns, self.window_ns)


def load(crowds: Iterable[Crowd], *, window_ns: int, slot_ns: int = 1_000_000_000, seed: int = 0) -> Load:
    """Adds up the restarts of all containers; each is simulated on its own, with its own seed.

    Raises:
        ValueError: the window is not above 0, or has more than a million slots.
    """
    if window_ns <= 0 or slot_ns <= 0:
        raise ValueError("the window and its slots must be longer than 0s")
    if window_ns > slot_ns * SLOTS_MAX:
        longest = f"{format_duration(slot_ns * SLOTS_MAX)}, {SLOTS_MAX:,} slots of {format_duration(slot_ns)}"
        raise ValueError(f"{format_duration(window_ns)}: must be at most {longest}")
    counted = CrashLoad(window_ns=window_ns, slot_ns=slot_ns)
    for crowd in crowds:
        kind = model(crowd.curve, crowd.life)
        counted.add(kind, containers=crowd.containers, spread_ns=crowd.spread_ns, seed=seed)
        seed += crowd.containers
    return Load(window_ns, slot_ns, counted.restarts, counted.slots)
