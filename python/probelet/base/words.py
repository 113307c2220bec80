"""Times, numbers and lists for people."""

from collections.abc import Sequence
from itertools import pairwise


def seconds(value: float) -> str:
    """``40 ms``, ``0.4 s``, ``83 s``, ``12 min``, ``2 h 5 min``, ``6 d 3 h``: two units at most, so that a line stays
    short."""
    if 0 < value < 0.0995:
        return f"{max(value * 1_000, 1):.0f} ms"
    if value < 10:
        return f"{value:.1f}".removesuffix(".0") + " s"
    whole = round(value)
    if whole < 600:
        return f"{whole} s"
    if whole < 7_200:
        return f"{round(value / 60)} min"
    units = (("d", 86_400), ("h", 3_600), ("min", 60))
    for (name, unit), (below, part) in pairwise(units):
        if whole >= unit:
            rest = whole % unit // part
            return f"{whole // unit} {name}" + (f" {rest} {below}" if rest else "")
    raise AssertionError(value)


def count(number: int, noun: str) -> str:
    """``1 time``, ``1,200 times``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def listed(names: Sequence[str], most: int) -> str:
    """``a, b``; of more than ``most`` names ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def times(number: int) -> str:
    """``once``, ``3 times``."""
    return "once" if number == 1 else f"{number:,} times"


def share(part: float, whole: float) -> str:
    """``12 %``, ``0.4 %``."""
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.2g} %"
