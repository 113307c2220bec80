"""Places on the axes: the frame that all panels of a picture share, its ticks, and durations as people write them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

MINUTE: Final = 60
HOUR: Final = 3_600
DAY: Final = 86_400

# The steps of a clock that people divide by.
TIME_STEPS: Final = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(DAY * n for n in (1, 2, 7, 14, 28, 91, 182, 364)),
)


@dataclass(frozen=True)
class Frame:
    """The place of the time axis, in pixels. Every panel of a picture has the same one."""

    width: float
    """The whole picture."""
    left: float
    """The margin for names."""
    right: float
    """The margin for outcomes; 0 if they stand above the lanes."""
    seconds: float
    """The length of the time axis."""
    column: float
    """The least width of a column; narrower ones are merged."""
    has_titles: bool = True
    """False leaves out what only a pointer shows on marks and spans: phones have none, and titles are most of the size
    of a long simulation's picture."""

    @cached_property
    def plot(self) -> float:
        """The width of the time axis."""
        return self.width - self.left - self.right

    @property
    def end(self) -> float:
        """The right end of the time axis."""
        return self.width - self.right

    @cached_property
    def columns(self) -> int:
        """How many columns there are."""
        return max(1, round(self.plot / self.column))

    @property
    def is_narrow(self) -> bool:
        """True for the picture for phones, which has no margin for outcomes."""
        return self.right == 0

    def x(self, seconds: float) -> float:
        """The place of a moment; one outside the simulation is at its edge."""
        return self.left + self.plot * min(1.0, max(0.0, seconds / self.seconds))

    def column_x(self, column: int) -> float:
        """The left end of a column."""
        return self.left + self.plot * column / self.columns

    def first_column(self, seconds: float) -> int:
        """The column in which a moment lies."""
        return min(self.columns - 1, max(0, int(self.columns * seconds / self.seconds)))

    def slice(self, from_seconds: float, to_seconds: float) -> slice:
        """The columns that a span touches, at least one."""
        first = self.first_column(from_seconds)
        last = self.columns * to_seconds / self.seconds
        return slice(first, max(first + 1, min(self.columns, -int(-last // 1))))


def time_ticks(seconds: float, count: int) -> tuple[list[float], float]:
    """At most ``count`` + 1 ticks from 0 on, and their step."""
    step = next((step for step in TIME_STEPS if seconds / step <= count), seconds / count)
    return [n * step for n in range(int(seconds / step + 1e-9) + 1)], step


def tick_text(at: float, step: float, seconds: float) -> str:
    """The label of a tick; all of an axis have one unit."""
    if at == 0:
        return "0"
    if step < MINUTE:
        return f"{at:.10g} s"
    if seconds <= 2 * HOUR:
        return f"{at / MINUTE:.10g} min"
    if step < HOUR:
        return f"{int(at // HOUR)}:{int(at % HOUR // MINUTE):02} h"
    return f"{at / HOUR:.10g} h" if step < DAY else f"{at / DAY:.10g} d"


def value_ticks(top: float, count: int) -> list[float]:
    """Round values from 0 to ``top``, about ``count`` of them besides 0."""
    if top <= 0:
        return [0]
    return next(
        [n * step for n in range(int(top / step + 1e-9) + 1)] for step in _round_steps(top) if top / step <= count
    )


def _round_steps(top: float) -> Iterator[float]:
    power = 10.0 ** (len(str(int(top))) - 4)
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def duration(seconds: float) -> str:
    """A duration: ``0.35 s``, ``43.7 s``, ``312 s``, ``14 min 5 s``, ``5 h 12 min``, ``3 d 4 h``."""
    if seconds < 1:
        return f"{seconds:.2g} s"
    if seconds < 99.95:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < 10 * MINUTE:
        return f"{whole} s"
    for large, small, names in ((MINUTE, 1, ("min", "s")), (HOUR, MINUTE, ("h", "min")), (DAY, HOUR, ("d", "h"))):
        if whole < {MINUTE: HOUR, HOUR: DAY}.get(large, whole + 1):
            rest = whole % large // small
            return f"{whole // large} {names[0]}" + (f" {rest} {names[1]}" if rest else "")
    raise AssertionError("the last unit takes every duration")


def moment(seconds: float) -> str:
    """A moment since the beginning, as `duration` writes it."""
    return duration(seconds) if seconds else "0 s"
