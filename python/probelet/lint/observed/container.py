"""What was observed of one container of one pod. None and an empty mapping mean that the source does not say it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from probelet.spec.model.probe import ProbeType


@dataclass(frozen=True)
class ObservedProbe:
    """One probe. Times are seconds."""

    runs: int = 0
    """Finished runs; 0 if nobody counted them."""
    failures: int = 0
    errors: int = 0
    """Runs that ended in an error of the prober, which counts as no outcome."""
    result: str = ""
    """The result in force: ``Success`` or ``Failure``; empty if it is not known."""
    cause: str = ""
    """The cause of the last failure, in one word; empty if it is not known."""
    slow: float | None = None
    """How long slow attempts take: the bound of the histogram's bucket that has the 99th percentile, or the length of
    the one attempt that was seen."""
    attempts: int = 0
    """How many attempts ``slow`` comes from."""
    lateness: float | None = None
    """How late the last run began."""


@dataclass(frozen=True)
class ObservedContainer:
    """One container of one pod. Times are seconds."""

    namespace: str
    """Empty if the source does not say it."""
    pod: str
    name: str
    probes: Mapping[ProbeType, ObservedProbe] = field(default_factory=dict)
    restarts: int | None = None
    is_waiting: bool = False
    """It waits for its next start, because it crashed."""
    age: float | None = None
    """The time since its last start."""
    start: float | None = None
    """The time from its start until it was ready."""
