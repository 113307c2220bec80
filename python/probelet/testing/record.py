"""What a node in virtual time has seen: attempts of probes, events and kills."""

from typing import Literal

import msgspec


class Attempt(msgspec.Struct, frozen=True):
    """One try of a probe."""

    at: float
    """When it began, seconds since t = 0."""
    took: float
    worker: str
    """`pod/container/type`."""
    outcome: Literal["success", "failure", "error", "timeout"]


class Event(msgspec.Struct, frozen=True):
    """An event the prober recorded."""

    at: float
    pod: str
    reason: str
    message: str


class Kill(msgspec.Struct, frozen=True):
    """A verdict that has a container killed."""

    at: float
    """When the probe failed for the last time; the preStop hook and the container's grace come after it."""
    container: str
    """`pod/container`."""
    probe_type: Literal["liveness", "startup"]
