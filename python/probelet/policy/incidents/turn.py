"""A change of one probe between good and bad: what the detector of incidents reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """An attempt that is good after a bad one, or bad after a good one. A first attempt turns if it is bad."""

    pod_uid: str
    """The pod's UID."""
    container: str
    """The container's name."""
    probe_type: str
    """``liveness``, ``readiness`` or ``startup``."""
    at_ms: int
    """When the attempt ended, Unix milliseconds."""
    is_good: bool
    """Success and warning are good, failure and error are bad."""
    cause: str
    """The word of rust/play/src/cause.rs; ``ok`` where nothing is wrong."""
    lateness_ms: float
    """How late the attempt began against the worker's own grid."""
    overdue_ms: float
    """How long the prober's own loop was overdue while it ran."""
    message: str
    """The text of the attempt, at most 256 bytes; empty for a success."""
