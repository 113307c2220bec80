"""Time that passes at the pace of its caller's clock, and does not jump with it."""

from typing import Final

JUMP_MS: Final = 600_000
"""A caller that comes later than this after the moment that it was asked for did not wait: its clock was set."""


class SteadyClock:
    """Milliseconds since the first look. A look at an earlier time than the last, or at one long after the time at
    which the caller was to come, passes no time."""

    def __init__(self) -> None:
        self.now = 0
        self._wall: int | None = None

    def look(self, wall_ms: int, due: int | None) -> int:
        """Take the caller's time; ``due`` is when it was to come, by this clock. Returns the present."""
        if self._wall is not None:
            passed = wall_ms - self._wall
            allowed = JUMP_MS + max(0, 0 if due is None else due - self.now)
            if 0 < passed <= allowed:
                self.now += passed
        self._wall = wall_ms
        return self.now

    def wall(self, moment: int) -> int:
        """The caller's time of a moment of this clock."""
        return (self._wall or 0) + moment - self.now
