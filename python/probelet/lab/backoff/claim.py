"""A published number about back-off, and whether the model reproduces it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Figure: TypeAlias = float | str | list[float]
Verdict = Literal["holds", "holds if", "does not hold", "not derived"]


@dataclass(frozen=True)
class Reading:
    """One reading of a claim: its assumption (empty for the literal reading), and the figure that follows from it."""

    figure: Figure
    assumption: str = ""


def equal(published: Figure, found: Figure) -> bool:
    """True at the published precision: "~568" equals any number that rounds to it."""
    if isinstance(published, list) and isinstance(found, list):
        return len(published) == len(found) and all(map(equal, published, found))
    if isinstance(published, int | float) and isinstance(found, int | float):
        return abs(published - found) < 0.5
    return published == found


@dataclass(frozen=True)
class Claim:
    """A claim with its text ``says`` and its figure ``published``. The first reading is the literal one.

    ``detail`` explains the figure, or why it differs. A claim without a reading cannot be derived.
    """

    number: str
    says: str
    published: Figure
    readings: Sequence[Reading]
    detail: str
    agrees: Callable[[Figure, Figure], bool] = equal

    @property
    def reading(self) -> Reading | None:
        """The first reading that makes the claim hold, else the literal one; None if there is none."""
        right = (reading for reading in self.readings if self.agrees(self.published, reading.figure))
        return next(right, self.readings[0] if self.readings else None)

    @property
    def verdict(self) -> Verdict:
        """The result of comparing the claim with its readings."""
        reading = self.reading
        if reading is None:
            return "not derived"
        if not self.agrees(self.published, reading.figure):
            return "does not hold"
        return "holds if" if reading.assumption else "holds"

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        reading = self.reading
        match self.verdict:
            case "holds if":
                return f"holds if {reading.assumption if reading else ''}: {self.detail}"
            case "does not hold":
                return f"does not hold because {self.detail}"
            case "not derived":
                return f"not derived: {self.detail}"
            case verdict:
                return f"{verdict}: {self.detail}"
