"""Whether the values of one release are larger than those of another: Mann and Whitney's test, one-sided."""

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import msgspec

SAMPLES_MIN: Final = 8
"""Values of each release; with fewer the normal approximation of the test is poor."""

CHANCE_MAX: Final = 0.001
"""How probable the difference may be if there is none. Many containers are compared for months."""

RISE_MIN: Final = 1.2
"""How many times the percentile must be the one before: a smaller rise is nobody's concern."""

LIMIT_SHARE: Final = 0.5
"""The share of the limit that the percentile must have reached."""

PERCENTILE: Final = 0.99


class Compared(msgspec.Struct, frozen=True):
    """A rise that is no chance: the 99th percentiles, and the limit."""

    before: float
    after: float
    limit: float


def percentile(values: Sequence[float]) -> float:
    """The 99th percentile: the largest value of fewer than a hundred."""
    ordered = sorted(values)
    return ordered[math.ceil(PERCENTILE * len(ordered)) - 1]


def compare(
    before: Sequence[float],
    after: Sequence[float],
    limit: float,
    percentile: Callable[[Sequence[float]], float] = percentile,
) -> Compared | None:
    """The rise from ``before`` to ``after``; None if there is none, if it does not matter to ``limit``, or if there are
    fewer than ``SAMPLES_MIN`` values of either. ``percentile`` finds the 99th percentile in the values."""
    if min(len(before), len(after)) < SAMPLES_MIN:
        return None
    low, high = percentile(before), percentile(after)
    if high < RISE_MIN * low or high <= LIMIT_SHARE * limit or _chance(before, after) > CHANCE_MAX:
        return None
    return Compared(low, high, limit)


def _chance(before: Sequence[float], after: Sequence[float]) -> float:
    """The probability that ``after`` has ranks so high, if the release changes nothing."""
    m, n = len(before), len(after)
    ordered = sorted([(value, 0) for value in before] + [(value, 1) for value in after])
    rank, ranks, ties = 0, 0.0, 0
    for _, group in groupby(ordered, key=lambda each: each[0]):
        equal = list(group)
        # Equal values share the mean of their ranks, counted from 1.
        ranks += sum(is_after for _, is_after in equal) * (rank + (len(equal) + 1) / 2)
        ties += len(equal) ** 3 - len(equal)
        rank += len(equal)
    excess = ranks - n * (n + 1) / 2 - m * n / 2
    variance = m * n / 12 * (m + n + 1 - ties / ((m + n) * (m + n - 1)))
    if excess <= 0 or variance <= 0:
        return 1.0
    return math.erfc((excess - 0.5) / math.sqrt(2 * variance)) / 2
