"""How messages say a time that nobody counts in seconds."""

from typing import Final

LEAST: Final = 120
"""Below this a person knows the seconds."""


def in_minutes(seconds: float) -> str:
    """`` (40 min)`` behind the seconds; empty for a short time."""
    return f" ({seconds / 60:.0f} min)" if seconds >= LEAST else ""
