"""A line of beats: one character for each attempt of a probe, which reads without colours too."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from rich.text import Text

LATE_MS: Final = 100.0
"""From this lateness on an attempt counts as late. A prober that does not starve is late by some milliseconds."""

Beat: TypeAlias = Literal["good", "late", "warning", "failure", "error"]

_STYLES: Final[dict[Beat, str]] = {
    "good": "green",
    "late": "yellow",
    "warning": "yellow",
    "failure": "red",
    "error": "yellow",
}
_MARKS: Final[dict[Beat, str]] = {"good": "·", "late": "~", "warning": "w", "failure": "!", "error": "?"}
_ASCII_MARKS: Final[dict[Beat, str]] = {**_MARKS, "good": "."}
_MEANINGS: Final[dict[Beat, str]] = {
    "good": "good",
    "late": f"good, {LATE_MS:.0f} ms late or more",
    "warning": "warning",
    "failure": "failure",
    "error": "prober error",
}


def beats(attempts: Iterable[Mapping[str, Any]], *, unicode: bool) -> Text:
    """The attempts of a history as one line, oldest first."""
    line, marks = Text(no_wrap=True, overflow="crop"), _MARKS if unicode else _ASCII_MARKS
    for attempt in attempts:
        found = _beat(attempt)
        line.append(marks[found], _STYLES[found])
    return line


def legend(*, unicode: bool) -> Text:
    """The meaning of each character."""
    marks = _MARKS if unicode else _ASCII_MARKS
    return Text(", ".join(f"{marks[beat]} {meaning}" for beat, meaning in _MEANINGS.items()), "dim")


def _beat(attempt: Mapping[str, Any]) -> Beat:
    outcome: str = attempt["outcome"]
    if outcome == "success":
        return "late" if attempt["lateness_ms"] >= LATE_MS else "good"
    return "warning" if outcome == "warning" else "failure" if outcome == "failure" else "error"
