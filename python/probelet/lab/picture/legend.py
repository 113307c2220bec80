"""The legend: only what the picture has."""

from collections.abc import Callable, Iterator, Sequence

from probelet.lab.picture.attempts import MARKS, PROBER, REFUSAL, SUCCESS, TIMEOUT, UNCONNECTED, marks_of
from probelet.lab.picture.document import RunRow
from probelet.lab.picture.heat_map import CLASSES
from probelet.lab.picture.lanes import STATE_CLASSES
from probelet.lab.picture.markup import CHARACTER_WIDTH, box, label, line

ROW = 19.0
SIGN = 20.0
TEXT = 12.0

Sign = Callable[[float, float], str]
"""Draws a sign at its left end and middle."""

STATE_TEXTS = {
    "starting": "starting",
    "unready": "not ready",
    "back_off": "back-off",
    "terminating": "ending",
    "pending": "pending",
}


def legend(width: float, runs: Sequence[RunRow], has_lanes: bool, top: float) -> tuple[str, float]:
    """The signs of some runs with their meanings, in rows; and their height."""
    drawn, x, y = [], 0.0, top
    for sign, text in _items(runs, has_lanes):
        wide = SIGN + len(text) * TEXT * CHARACTER_WIDTH + 16
        if x and x + wide - 16 > width:
            x, y = 0.0, y + ROW
        drawn.append(sign(x, y + 9) + label(x + SIGN, y + 13, text))
        x += wide
    return "".join(drawn), y + ROW + 4 - top if drawn else 0.0


def _items(runs: Sequence[RunRow], has_lanes: bool) -> Iterator[tuple[Sign, str]]:
    pods = [pod for run in runs for pod in run["pods"]]
    services = [service for run in runs for service in run["services"]]
    states = {span["state"] for pod in pods for span in pod["spans"]}
    in_time = ["served in time"] * any(row["totals"]["served"] > row["totals"]["late"] for row in services)
    if in_time or "ready" in states:
        yield _swatch("r"), ", ".join([*in_time, *(["ready"] * ("ready" in states))])
    if any(service["totals"]["late"] for service in services):
        yield _swatch("ql"), "served late"
    if any(service["totals"]["lost"] for service in services):
        yield _swatch("lo"), "lost"
    for state, text in STATE_TEXTS.items():
        if state in states:
            yield _state(state, has_lanes), text
    if any(pod["kills"] for pod in pods):
        yield (_stroke("k", "m2-4l8 8m0-8l-8 8") if has_lanes else _stroke("k", "m6 0h0")), "killed by a probe"
    if has_lanes and any(len(pod["exits"]) > len(pod["kills"]) for pod in pods):
        yield _stroke("x", "m6-5l5 5l-5 5l-5-5z"), "ended by itself"
    if has_lanes:
        found = marks_of(pods)
        for mark, text in MARKS.items():
            if mark in found:
                yield _stroke(mark, _MARKS[mark]), f"attempt: {text}" if mark == SUCCESS else text
        if found:
            yield _stroke("T", "m0-4h14"), "the probe's timeout"


_MARKS = {
    SUCCESS: "m6 2h0",
    TIMEOUT: "m6 6v-11",
    REFUSAL: "m4-2l4 4m0-4l-4 4",
    UNCONNECTED: "m4-2l2 4l2-4",
    PROBER: "m4 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
}


def _swatch(css: str) -> Sign:
    return lambda x, y: box(x, y - 6, 14, 12, css)


def _state(state: str, has_lanes: bool) -> Sign:
    if not has_lanes:
        return lambda x, y: line(f"M{x:.1f} {y:.1f}h14", f"{CLASSES[state]} hw")
    inset = 0 if state == "ready" else 3
    return lambda x, y: box(x, y - 6 + inset, 14, 12 - 2 * inset, STATE_CLASSES[state])


def _stroke(css: str, shape: str) -> Sign:
    return lambda x, y: line(f"M{x:.1f} {y:.1f}{shape}", css)
