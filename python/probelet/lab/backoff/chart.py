"""A chart as data: its content, independent of the drawing."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Kind = Literal["lines", "dots", "bars", "steps"]


@dataclass(frozen=True)
class Series:
    """One curve of a chart: the published points and the model's; either may be missing.

    ``ink`` names the curve's subject, so that it has the same colour and marker in every chart.
    """

    name: str
    ink: str
    published: Sequence[float] = ()
    model: Sequence[float] = ()
    published_is: str = "as published"

    @property
    def confirmed(self) -> bool:
        """True if model and published points agree to the tenth that a picture shows; one curve then draws both."""
        return len(self.published) == len(self.model) and all(
            abs(there - here) <= 0.06 for there, here in zip(self.published, self.model, strict=True)
        )


@dataclass(frozen=True)
class Chart:
    """``name`` is the file's name. ``x`` labels bars; other points have the x values 1, 2, 3.

    For steps, a ``width`` other than 0 makes them begin at 0 and sets the width of each; ``panels`` draws each series
    in a panel of its own, all on the same axes, so that none covers another. ``log`` makes the y axis logarithmic, for
    series whose values differ by a factor; a value of 0 is then not drawn.
    """

    name: str
    title: str
    kind: Kind
    x_label: str
    y_label: str
    series: Sequence[Series]
    x: Sequence[str] = ()
    width: float = 0
    y_range: tuple[float, float] | None = None
    note: str = ""
    log: bool = False
    panels: bool = False

    @property
    def digest(self) -> str:
        """Identifies the data, so that a test finds an outdated drawing."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]
