"""A span of seconds."""

from typing import NamedTuple


class Span(NamedTuple):
    """From ``earliest`` to ``latest``, in whole seconds. ``typical``: ticks in the middle of a period, attempts without
    length."""

    earliest: int
    typical: float
    latest: int

    @property
    def seconds(self) -> list[int]:
        """The bounds without what is typical."""
        return [self.earliest, self.latest]
