"""Reads the durations and shares of a cluster's behaviours and faults."""

from math import ceil
from typing import Annotated, TypeAlias

from probelet.config.kubelet import Count, Duration, DurationAboveZero
from probelet.errors import ClusterError
from probelet.spec.read.decode import in_file
from probelet.spec.text.duration import DurationError, format_duration, parse_duration

# Durations of faults. Python gives a text as Go writes it; from a scenario file they are nanoseconds.
NotNegative: TypeAlias = Annotated[str | int, in_file(Duration)]
Unset: TypeAlias = Annotated[str | int | None, in_file(DurationAboveZero | None)]
Required: TypeAlias = Annotated[str | int, in_file(DurationAboveZero | None, default=None)]
"""It has a default in Python only: the rules of a scenario refuse a file without it."""
Replicas: TypeAlias = Annotated[int | str | None, in_file(Count | None)]
"""How many pods: a number, in Python also a percentage; None: all."""


def nanoseconds(name: str, duration: str | int) -> int:
    """A duration as Go writes it, or as it comes from a file, in nanoseconds. ``name`` is the parameter's.

    Raises:
        ClusterError: it is not one, or it is negative.
    """
    if isinstance(duration, int):
        return duration
    try:
        found = parse_duration(duration)
    except DurationError as error:
        raise ClusterError(f"{name}: {error}") from error
    if found < 0:
        raise ClusterError(f"{name}: {duration!r}: must not be negative")
    return found


def positive(name: str, duration: str | int) -> int:
    """Parses like ``nanoseconds`` a duration that must be more than 0."""
    if found := nanoseconds(name, duration):
        return found
    raise ClusterError(f"{name}: {duration!r}: must be more than 0")


def shown(duration: str | int) -> str:
    """A duration as a text."""
    return duration if isinstance(duration, str) else format_duration(duration)


def share(name: str, replicas: int | str | None, of: int) -> int:
    """How many of ``of`` pods a number or a percentage means; a percentage is rounded up, None means all.

    Raises:
        ClusterError: it is neither a number from 0 nor a percentage from 0% to 100%.
    """
    if replicas is None:
        return of
    if isinstance(replicas, int):
        if replicas < 0:
            raise ClusterError(f"{name}: {replicas}: must be at least 0")
        return min(replicas, of)
    digits = replicas.removesuffix("%")
    if digits == replicas or not digits.isdecimal() or int(digits) > 100:
        raise ClusterError(f"{name}: {replicas!r}: must be a number, or a percentage from 0% to 100%")
    return ceil(of * int(digits) / 100)
