"""Reads the durations and shares of a cluster's behaviours and faults."""

from math import ceil
from typing import Annotated, TypeAlias

from probelet.config.kubelet import Count, Duration, DurationAboveZero
from probelet.errors import ClusterError
from probelet.spec.read.decode import in_file
from probelet.spec.text.duration import DurationError, format_duration, parse_duration
from probelet.virtual.argument import check_type

# Durations of faults. A cluster takes a text as Go writes it; in a scenario that was read they are nanoseconds.
NotNegative: TypeAlias = Annotated[str | int, in_file(Duration)]
Unset: TypeAlias = Annotated[str | int | None, in_file(DurationAboveZero | None)]
Required: TypeAlias = Annotated[str | int, in_file(DurationAboveZero | None, default=None)]
"""It has a default in Python only: the rules of a scenario refuse a file without it."""
Replicas: TypeAlias = Annotated[int | str | None, in_file(Count | None)]
"""How many pods: a number, in Python also a percentage; None: all."""


def nanoseconds(name: str, duration: str | int) -> int:
    """A duration as Go writes it, in nanoseconds. ``name`` is the parameter's.

    Raises:
        ClusterError: it is not one, or it is negative.
        TypeError: it is a number, whose unit nobody knows.
    """
    check_type(name, duration, str, meant='"1m30s"')
    assert isinstance(duration, str)
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


def of_file(duration: str | int) -> int:
    """The duration of a fault in a scenario that was read, in nanoseconds; a default is a text."""
    return duration if isinstance(duration, int) else parse_duration(duration)


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
