"""Reads the durations and shares of a cluster's behaviours and faults."""

from math import ceil

from probelet.errors import ClusterError
from probelet.spec.text.duration import DurationError, parse_duration


def nanoseconds(name: str, duration: str) -> int:
    """A duration as Go writes it, in nanoseconds. ``name`` is the parameter's.

    Raises:
        ClusterError: it is not one, or it is negative.
    """
    try:
        found = parse_duration(duration)
    except DurationError as error:
        raise ClusterError(f"{name}: {error}") from error
    if found < 0:
        raise ClusterError(f"{name}: {duration!r}: must not be negative")
    return found


def positive(name: str, duration: str) -> int:
    """Parses like ``nanoseconds`` a duration that must be more than 0."""
    if found := nanoseconds(name, duration):
        return found
    raise ClusterError(f"{name}: {duration!r}: must be more than 0")


def share(name: str, replicas: int | str, of: int) -> int:
    """How many of ``of`` pods a number or a percentage means; a percentage is rounded up.

    Raises:
        ClusterError: it is neither a number from 0 nor a percentage from 0% to 100%.
    """
    if isinstance(replicas, int):
        if replicas < 0:
            raise ClusterError(f"{name}: {replicas}: must be at least 0")
        return min(replicas, of)
    digits = replicas.removesuffix("%")
    if digits == replicas or not digits.isdecimal() or int(digits) > 100:
        raise ClusterError(f"{name}: {replicas!r}: must be a number, or a percentage from 0% to 100%")
    return ceil(of * int(digits) / 100)
