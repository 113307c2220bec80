"""The random choices of a case: all of them from one seed, and odd ones only as often as the case is wild."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice(Random):
    """A generator of its own for every case. At wildness 0 nothing odd is ever chosen."""

    wildness = 1.0

    def pick(self, values: Sequence[T]) -> T:
        return values[self.randrange(len(values))]

    def often(self, usual: Sequence[T], odd: Sequence[T], oddness: float) -> T:
        """Mostly one of the usual values."""
        return self.pick(odd if self.random() < oddness * self.wildness else usual)
