"""Times in which a container was not ready, and how often is too often."""

from collections.abc import Iterable
from typing import Final, NamedTuple

CHANGES_MAX: Final = 3
"""Changes between ready and unready in an hour that are no flapping."""

HOUR: Final = 3600


class Outage(NamedTuple):
    """A time in which a container that had been ready was not. Times are Unix seconds."""

    begin: float
    end: float | None
    """None if it lasted until the end of the observation."""
    cause: str
    """Why readiness failed, in one word; empty if it is not known."""


def changes(found: Iterable[Outage]) -> int:
    """How often a container became unready or ready again."""
    return sum(1 if outage.end is None else 2 for outage in found)


def is_flapping(found: Iterable[Outage], span: float) -> bool:
    """True if there were more than ``CHANGES_MAX`` changes an hour; an observation of minutes counts as an hour."""
    return changes(found) > CHANGES_MAX * max(span / HOUR, 1)
