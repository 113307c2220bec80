"""The random choices of a case: one seed decides all of them, and ``wildness`` how often they are odd."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice(Random):
    """The random generator of one case. With ``wildness`` 0 it never chooses an odd value."""

    wildness = 1.0

    def pick(self, values: Sequence[T]) -> T:
        return values[self.randrange(len(values))]

    def often(self, usual: Sequence[T], odd: Sequence[T], oddness: float) -> T:
        """Picks an odd value with probability ``oddness * wildness``, otherwise a usual one."""
        return self.pick(odd if self.random() < oddness * self.wildness else usual)
