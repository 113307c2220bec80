"""A container in back-off: of its restarts, or of the pulls of its image."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wait:
    """It may be tried again at ``due_ns``; ``delay_ns`` is the stored delay."""

    due_ns: int
    delay_ns: int
