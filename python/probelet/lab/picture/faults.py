"""The faults of the scenario: bands behind every panel, their labels, and how long the recovery took after them."""

from collections.abc import Sequence

from probelet.lab.picture.document import FaultRow, RunRow, ScenarioRow
from probelet.lab.picture.markup import CHARACTER_WIDTH, box, clipped, label, line, number
from probelet.lab.picture.scale import Frame, duration, moment
from probelet.lab.picture.wording import count, end_of

ROW = 19.0
ROWS_MAX = 4
"""Labels of further faults would push the panels off the screen; their bands stay, with the label as a title."""

BANDS_MAX = 40
TEXT = 11.0


def bands(frame: Frame, faults: Sequence[FaultRow], top: float, bottom: float) -> str:
    """A band for each fault, a line for one that is a moment."""
    drawn = []
    for fault in faults[:BANDS_MAX]:
        left, right = _ends(frame, fault)
        drawn.append(box(left, top, max(1.5, right - left), bottom - top, "F", _title(frame, fault)))
    return "".join(drawn)


def edges(frame: Frame, faults: Sequence[FaultRow], top: float, bottom: float) -> str:
    """Where the bands begin and end, over everything."""
    places = sorted({round(x, 1) for fault in faults[:BANDS_MAX] for x in _ends(frame, fault) if x < frame.end})
    return line("".join(f"M{number(x)} {number(top)}V{number(bottom)}" for x in places), "E")


def labels(frame: Frame, faults: Sequence[FaultRow], top: float) -> tuple[str, float]:
    """The labels of the faults over a bracket from each beginning to its end, in as few rows as hold them; and their
    height."""
    ends: list[float] = []
    drawn = []
    hidden = 0
    for fault in faults[:BANDS_MAX]:
        left, right = _ends(frame, fault)
        text = clipped(fault["label"], frame.plot, TEXT)
        wide = len(text) * TEXT * CHARACTER_WIDTH + 6
        start = max(frame.left, min(left, frame.end - wide))
        row = next((n for n, end in enumerate(ends) if end <= start), len(ends))
        if row == ROWS_MAX:
            hidden += 1
            continue
        ends[row:row] = [] if row < len(ends) else [0.0]
        ends[row] = max(start + wide, right) + 4
        y = top + row * ROW
        drawn.append(label(start, y + 11, text, title=_title(frame, fault)))
        drawn.append(line(f"M{left:.1f} {y + 18:.1f}v-3H{max(right, left + 1.5):.1f}v3", "f"))
    hidden += max(0, len(faults) - BANDS_MAX)
    if hidden:
        drawn.append(label(frame.left, top + len(ends) * ROW + 11, f"and {count(hidden, 'more fault')}", "z"))
    return "".join(drawn), (len(ends) + bool(hidden)) * ROW


def recovery(frame: Frame, run: RunRow, scenario: ScenarioRow, top: float) -> tuple[str, float]:
    """A dimension line from the end of the last fault to the recovery, or an arrow to the end; and its height."""
    verdict, after = run["verdict"], run["verdict"]["recovers_after_seconds"]
    start = max(map(end_of, scenario["faults"]), default=0.0)
    if not run["pods"] or after == 0:
        return "", 0.0
    left, y = frame.x(start), top + 9
    if verdict["recovered"] and after is not None:
        right = frame.x(start + after)
        text, css = f"recovers after {duration(after)}", "h W"
        drawn = line(f"M{left:.1f} {y - 4:.1f}v8M{right:.1f} {y - 4:.1f}v8M{left:.1f} {y:.1f}H{right:.1f}", "d")
    else:
        right = frame.x(run["played_seconds"])
        text, css = "never recovers", "h B"
        if run["played_seconds"] < scenario["duration_seconds"]:
            text, css = f"interrupted at {moment(run['played_seconds'])}", "h"
        drawn = line(f"M{left:.1f} {y - 4:.1f}v8M{left:.1f} {y:.1f}H{right - 2:.1f}", "d")
        drawn += line(f"M{right:.1f} {y:.1f}l-7-3.5v7z", "D")
    wide = len(text) * 12 * CHARACTER_WIDTH + 8
    if right + wide < frame.width:
        return drawn + label(right + 6, y + 4, text, css), 18.0
    if left - wide > 0:
        return drawn + label(left - 6, y + 4, text, css, "end"), 18.0
    return drawn + label(frame.end, y + 18, text, css, "end"), 32.0


def _ends(frame: Frame, fault: FaultRow) -> tuple[float, float]:
    to = frame.seconds if fault["to_seconds"] is None else fault["to_seconds"]
    return frame.x(fault["from_seconds"]), frame.x(to)


def _title(frame: Frame, fault: FaultRow) -> str:
    """The fault with its times, in words."""
    if not frame.has_titles:
        return ""
    start, end = fault["from_seconds"], fault["to_seconds"]
    if end is None:
        return f"{fault['label']}: from {moment(start)} on"
    return f"{fault['label']}: " + (f"at {moment(start)}" if end == start else f"{moment(start)} to {moment(end)}")
