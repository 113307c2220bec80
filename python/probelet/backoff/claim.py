"""A number somebody published about back-off, and whether it comes out again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Figure: TypeAlias = float | str | list[float]
Verdict = Literal["holds", "holds if", "does not hold", "not derived"]


@dataclass(frozen=True)
class Reading:
    """One way to read a claim: what has to be assumed for it (empty for the plain words), and what comes out then."""

    figure: Figure
    assumption: str = ""


def equal(published: Figure, found: Figure) -> bool:
    """Equal to the published precision: "~568" is any number that rounds to it."""
    if isinstance(published, list) and isinstance(found, list):
        return len(published) == len(found) and all(map(equal, published, found))
    if isinstance(published, int | float) and isinstance(found, int | float):
        return abs(published - found) < 0.5
    return published == found


@dataclass(frozen=True)
class Claim:
    """``says`` is what the text says, ``published`` its figure. The first reading is the plain one.

    ``detail`` says where the figure comes from, or why it is another one. Without a reading there is nothing to derive.
    """

    number: str
    says: str
    published: Figure
    readings: Sequence[Reading]
    detail: str
    agrees: Callable[[Figure, Figure], bool] = equal

    @property
    def reading(self) -> Reading | None:
        """The first reading under which the claim holds, else the plain one; None if there is none."""
        right = (reading for reading in self.readings if self.agrees(self.published, reading.figure))
        return next(right, self.readings[0] if self.readings else None)

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds."""
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
