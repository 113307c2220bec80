"""Whether a series of measurements rises: Theil-Sen's slope, and Mann-Kendall's test of whether it is chance."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, NamedTuple

POINTS_MIN: Final = 8
"""With fewer points the normal approximation of the test is poor, and a line through them says little."""

CHANCE_MAX: Final = 0.05
"""How probable the rise may be if there is none."""


class Trend(NamedTuple):
    """A rise that is no chance."""

    slope: float
    """Units of y for each unit of x; above 0."""
    latest: float
    """Where the line is at the last x."""


def rising(points: Sequence[tuple[float, float]]) -> Trend | None:
    """The rise of y over x, None if there is none. One wild value changes little: the slope is a median."""
    if len(points) < POINTS_MIN:
        return None
    pairs = [(one, other) for one, other in combinations(sorted(points), 2) if other[0] > one[0]]
    if not pairs:
        return None
    slope = _median((other[1] - one[1]) / (other[0] - one[0]) for one, other in pairs)
    if slope <= 0 or _chance(pairs, len(points)) > CHANCE_MAX:
        return None
    last = max(x for x, _ in points)
    return Trend(slope, _median(y - slope * x for x, y in points) + slope * last)


def _chance(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]], count: int) -> float:
    """The probability of so many rises among the pairs, if each order is as likely as any other. Equal values count as
    no rise; their smaller variance is left out, which only makes the test more careful."""
    excess = sum((other[1] > one[1]) - (other[1] < one[1]) for one, other in pairs)
    if excess <= 0:
        return 1.0
    variance = count * (count - 1) * (2 * count + 5) / 18
    return math.erfc((excess - 1) / math.sqrt(2 * variance)) / 2


def _median(values: Iterable[float]) -> float:
    # The module `statistics` costs as much of a start as twenty rules.
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
