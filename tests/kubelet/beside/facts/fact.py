"""One thing that can be seen of both sides."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fact:
    """A value with a name. Numbers may be ``slack`` apart, times the pace unless the value is a median of many."""

    name: str
    value: Any
    slack: float | None = None
    is_median: bool = False

    def equals(self, other: "Fact", pace: float = 1.0) -> bool:
        if self.slack is None:
            return bool(self.value == other.value)
        slack = self.slack if self.is_median else self.slack * pace
        mine, theirs = _numbers(self.value), _numbers(other.value)
        return len(mine) == len(theirs) and all(_near(a, b, slack) for a, b in zip(mine, theirs, strict=True))


def _numbers(value: Any) -> list[float | None]:
    return value if isinstance(value, list) else [value]


def _near(a: float | None, b: float | None, slack: float) -> bool:
    return a is b if a is None or b is None else abs(a - b) <= slack
