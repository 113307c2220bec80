"""The attempts of a probe as marks in a strip: their height is the share of the timeout that they took.

In each place the worst attempt is drawn. What it came to has a shape beside its colour.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from probelet.lab.picture.document import PodRow, ProbeRow
from probelet.lab.picture.markup import CHARACTER_WIDTH, box, label, line, number
from probelet.lab.picture.scale import Frame, duration, moment

PLACE_MIN: Final = 3.0
"""The width of a mark; attempts that are closer share one."""

TITLES_MAX: Final = 40
"""The runs of failures of one strip that have a title."""

NO_ANSWER: Final = {"dns", "eof", "port", "refused", "reset", "tls", "unreachable"}
"""Causes of a failure without an answer of the program."""

STEM: Final = "a0"
SUCCESS, TIMEOUT, REFUSAL, UNCONNECTED, PROBER = "a1", "a2", "a3", "a4", "a5"
MARKS: Final = {
    SUCCESS: "success",
    TIMEOUT: "timeout",
    REFUSAL: "an answer that says no",
    UNCONNECTED: "no connection",
    PROBER: "error of the prober, counts for nothing",
}
"""The outcome of an attempt, by the class of its mark."""

_BADNESS: Final = (SUCCESS, PROBER, REFUSAL, UNCONNECTED, TIMEOUT)


@dataclass(frozen=True)
class Attempt:
    """One attempt as it is drawn."""

    at: float
    share: float
    """The share of the timeout that it took, 0 to 1."""
    mark: str
    cause: str
    took: float

    @property
    def badness(self) -> tuple[int, float]:
        """The worst attempt has the greatest one; among equals, the slowest."""
        return _BADNESS.index(self.mark), self.share


def attempts(probe: ProbeRow) -> list[Attempt]:
    """The attempts of a probe in order."""
    rows, limit = probe["attempts"], max(probe["timeout_seconds"], 1e-9)
    columns = zip(rows["t"], rows["took"], rows["outcome"], rows["cause"], strict=True)
    return [
        Attempt(t, min(1.0, took / limit), _mark(outcome, cause), cause, took) for t, took, outcome, cause in columns
    ]


def strip(frame: Frame, probes: Sequence[ProbeRow], life: tuple[float, float], top: float, height: float) -> str:
    """The marks of one probe, or of several that share a strip, below the line of the timeout, which is as long as the
    pod's ``life``."""
    places = replace(frame, column=max(PLACE_MIN, frame.column))
    base, high = top + height - 1.5, height - 3.0
    worst: dict[int, Attempt] = {}
    for probe in probes:
        for attempt in attempts(probe):
            place = places.first_column(attempt.at)
            if place not in worst or attempt.badness > worst[place].badness:
                worst[place] = attempt
    shapes: dict[str, list[str]] = {mark: [] for mark in MARKS}
    stems = []
    for place, attempt in sorted(worst.items()):
        x = (places.column_x(place) + places.column_x(place + 1)) / 2
        y = base - high * attempt.share
        shapes[attempt.mark].append(_shape(attempt.mark, x, y, base, high))
        if attempt.mark == SUCCESS and base - y > 2:
            stems.append(f"M{number(x)} {number(base)}V{number(y)}")
    drawn = line(f"M{number(life[0])} {number(base - high)}H{number(life[1])}", "T")
    drawn += line("".join(stems), STEM) + _cut(frame, probes, life, base - 2)
    return drawn + "".join(line("".join(shape), mark) for mark, shape in shapes.items())


def _cut(frame: Frame, probes: Sequence[ProbeRow], life: tuple[float, float], baseline: float) -> str:
    """Says that the document has no attempts from some moment on, or an empty strip would look like an idle probe."""
    last = max((probe["attempts"]["t"][-1] for probe in probes if probe["attempts"]["t"]), default=0.0)
    dropped = sum(probe["dropped"] for probe in probes)
    text = f"{dropped:,} attempts not kept"
    start = frame.x(last) + 6
    has_room = life[1] - start > len(text) * 10 * CHARACTER_WIDTH
    return label(start, baseline, text, "y") if dropped and has_room else ""


def titles(frame: Frame, probe: ProbeRow, top: float, height: float) -> str:
    """The titles that a pointer shows on the runs of failures of a strip."""
    drawn = []
    for mark, group in groupby(attempts(probe), lambda attempt: attempt.mark):
        rows = list(group)
        if mark == SUCCESS:
            continue
        left, right = frame.x(rows[0].at) - 2, frame.x(rows[-1].at) + 3
        causes = ", ".join(dict.fromkeys(row.cause for row in rows))
        times = "at " + moment(rows[0].at) if len(rows) == 1 else f"{moment(rows[0].at)} to {moment(rows[-1].at)}"
        slowest = duration(max(row.took for row in rows))
        text = f"{probe['type']} of {probe['container']}: {len(rows)} times {MARKS[mark]} ({causes}), {times}"
        drawn.append(box(left, top, max(4.0, right - left), height, "i", f"{text}, took up to {slowest}"))
    return "".join(drawn) if len(drawn) <= TITLES_MAX else ""


def marks_of(pods: Iterable[PodRow]) -> set[str]:
    """The marks that some pods' attempts have."""
    kinds = {
        kind
        for pod in pods
        for probe in pod["probes"]
        for kind in zip(probe["attempts"]["outcome"], probe["attempts"]["cause"], strict=True)
    }
    return {_mark(outcome, cause) for outcome, cause in kinds}


def _mark(outcome: str, cause: str) -> str:
    if outcome == "s":
        return SUCCESS
    if outcome == "e" or cause == "starved":
        return PROBER
    if outcome == "t":
        return TIMEOUT
    return UNCONNECTED if cause in NO_ANSWER else REFUSAL


def _shape(mark: str, x: float, y: float, base: float, high: float) -> str:
    """A dot, a bar up to the timeout, a cross, an angle, a ring."""
    at = f"M{number(x)} "
    match mark:
        case "a2":
            return f"{at}{number(base)}v-{number(high)}"
        case "a3":
            return f"M{number(x - 2)} {number(max(y - 2, base - high))}l4 4m0-4l-4 4"
        case "a4":
            return f"M{number(x - 2)} {number(base - 5)}l2 4l2-4"
        case "a5":
            return f"M{number(x - 1.5)} {number(min(y, base - 1))}a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0"
        case _:
            return f"{at}{number(y)}h0"
