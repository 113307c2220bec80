"""One attempt of a probe, as the engine, an agent or a simulation saw it end."""

import msgspec


class Turn(msgspec.Struct, frozen=True):
    """An attempt that ended. A caller may leave out attempts that ended as the one before did, but for the first one of
    each probe, and for bad ones up to the ``failure_threshold`` of its subject, and two at least."""

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
    """The word of ``rust/play/src/cause.rs``; ``ok`` where nothing is wrong."""
    lateness_ms: float
    """How much later than it was due the attempt began."""
    overdue_ms: float
    """How long the prober's own loop was overdue while the attempt waited for its answer."""
    message: str
    """The text of the attempt, at most 256 bytes; empty for a success."""
