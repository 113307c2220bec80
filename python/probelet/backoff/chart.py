"""A chart as data: what is drawn, before anything draws it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Kind = Literal["lines", "dots", "bars", "steps"]


@dataclass(frozen=True)
class Series:
    """One curve of a chart: what was published, and what the model says. Either may be missing.

    ``ink`` names the same thing in every chart, so that it has the same colour and marker everywhere.
    """

    name: str
    ink: str
    published: Sequence[float] = ()
    model: Sequence[float] = ()
    published_is: str = "as published"

    @property
    def confirmed(self) -> bool:
        """Whether the model gives what was published, to the tenth that can be read off: one curve then says both."""
        return len(self.published) == len(self.model) and all(
            abs(there - here) <= 0.06 for there, here in zip(self.published, self.model, strict=True)
        )


@dataclass(frozen=True)
class Chart:
    """``name`` is the file's. ``x`` are the labels of bars; other points stand at 1, 2, 3.

    Steps have a ``width`` other than 0 where they begin at 0 and each is that wide.
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

    @property
    def digest(self) -> str:
        """Names the data, so that a drawing that is out of date is found."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]
