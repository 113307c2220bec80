"""One attempt of a probe, as the engine, an agent or a simulation saw it end."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """An attempt that ended. A caller may leave out attempts that ended as the one before did."""

    pod_uid: str
    container: str
    probe_type: str
    """``liveness``, ``readiness`` or ``startup``."""
    at_ms: int
    """When the attempt ended, Unix milliseconds."""
    is_good: bool
    cause: str
    """The word of ``rust/play/src/cause.rs``; ``ok`` where it is good."""
    lateness_ms: float
    """How much later than it was due the attempt began."""
    overdue_ms: float
    """How late the prober's own loop was while the attempt waited for its answer."""
    message: str
