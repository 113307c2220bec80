"""A lane per pod: its states as a bar, kills and exits as marks on it, and the attempts of its probes in strips."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from probelet.lab.picture.attempts import strip, titles
from probelet.lab.picture.columns import STATES, runs, state_columns
from probelet.lab.picture.document import ExitRow, KillRow, PodRow, ProbeRow
from probelet.lab.picture.markup import clipped, label, line, number
from probelet.lab.picture.scale import Frame, duration, moment
from probelet.lab.picture.wording import outcome

STATE_CLASSES = {"ready": "r", "starting": "qs", "unready": "qu", "back_off": "qb", "terminating": "qt", "pending": "p"}
"""The class of each state's bar. A pod that is gone has none."""

SHARED_STRIP_PODS = 12
"""With more pods, the probes of a pod share a strip."""

MARK_WIDTH = 8.0
DENSE_MARKS = 24.0
"""The average distance of crosses below which a lane has short strokes instead; with wider columns, a wider one."""

TITLED_SPANS_MAX = 30
"""A lane with more spans has one path for each state, and no titles."""


@dataclass(frozen=True)
class LaneSize:
    """The heights of the parts of a lane, in pixels."""

    bar: float
    strip: float
    gap: float
    strip_gap: float
    has_strip_per_probe: bool


ROOMY = LaneSize(bar=15, strip=18, gap=8, strip_gap=3, has_strip_per_probe=True)
COMPACT = LaneSize(bar=11, strip=10, gap=7, strip_gap=1, has_strip_per_probe=False)
NAME_HEIGHT = 15.0
"""The line above a lane, where there is no margin for its name."""


def lane_size(pods: Sequence[PodRow]) -> LaneSize:
    """How large the lanes of so many pods are."""
    return ROOMY if len(pods) <= SHARED_STRIP_PODS else COMPACT


def lane(frame: Frame, pod: PodRow, size: LaneSize, name: str, top: float) -> tuple[str, float]:
    """The lane of a pod, and its height. ``name`` is the pod's name as it is shown."""
    drawn, y = _names(frame, pod, size, name, top)
    drawn += bar(frame, pod, y, size.bar) + _marks(frame, pod, y, size.bar)
    y += size.bar + size.strip_gap
    born, dead = _life(frame, pod)
    for probes in _strips(pod, size):
        if size.has_strip_per_probe:
            drawn += _strip_label(frame, probes[0], pod, y + size.strip - 5)
        drawn += strip(frame, probes, (born, dead), y, size.strip)
        drawn += "".join(titles(frame, probe, y, size.strip) for probe in probes) if frame.has_titles else ""
        y += size.strip + size.strip_gap
    return drawn, y + size.gap - top


def _life(frame: Frame, pod: PodRow) -> tuple[float, float]:
    """Where a pod's lane begins and ends."""
    spans = [span for span in pod["spans"] if span["state"] != "gone"]
    return (frame.x(spans[0]["from_seconds"]), frame.x(spans[-1]["to_seconds"])) if spans else (frame.left, frame.left)


def _strips(pod: PodRow, size: LaneSize) -> list[list[ProbeRow]]:
    if size.has_strip_per_probe:
        return [[probe] for probe in pod["probes"]]
    return [pod["probes"]] if pod["probes"] else []


def bar(frame: Frame, pod: PodRow, top: float, height: float) -> str:
    """The states of a pod: ready has the full height, every other state a lower bar with a texture."""
    found = [(first, last, STATES[int(state)]) for first, last, state in runs(state_columns(frame, pod["spans"]))]
    shown = [(first, last, state) for first, last, state in found if state != "gone"]
    if not frame.has_titles or len(shown) > TITLED_SPANS_MAX:
        return "".join(
            line(
                "".join(_span(frame, first, last, state, top, height) for first, last, _ in group), STATE_CLASSES[state]
            )
            for state, group in groupby(sorted(shown, key=lambda span: span[2]), lambda span: span[2])
        )
    return "".join(
        line(
            _span(frame, first, last, state, top, height),
            STATE_CLASSES[state],
            _span_title(frame, pod, first, last, state),
        )
        for first, last, state in shown
    )


def _span_title(frame: Frame, pod: PodRow, first: int, last: int, state: str) -> str:
    """The exact times of the spans that some columns show: a worse neighbour may cover the edge of a span."""
    begin, end = frame.seconds * first / frame.columns, frame.seconds * last / frame.columns
    spans = [s for s in pod["spans"] if s["state"] == state and s["from_seconds"] < end and s["to_seconds"] > begin]
    lasted = duration(sum(span["to_seconds"] - span["from_seconds"] for span in spans))
    times = f"{moment(spans[0]['from_seconds'])} to {moment(spans[-1]['to_seconds'])}"
    parts = f" in {len(spans)} parts" if len(spans) > 1 else ""
    return f"{state.replace('_', '-')} {lasted}{parts}, {times}"


def _span(frame: Frame, first: int, last: int, state: str, top: float, height: float) -> str:
    inset = 0.0 if state == "ready" else height * 0.22
    left, right = frame.column_x(first), frame.column_x(last)
    tall = number(height - 2 * inset)
    return f"M{number(left)} {number(top + inset)}H{number(right)}v{tall}H{number(left)}z"


def _marks(frame: Frame, pod: PodRow, top: float, height: float) -> str:
    """A cross for each kill, a diamond for each container that ended by itself; one for all that share a place."""
    exits = [(row["at_seconds"], _exit_text(row)) for row in pod["exits"] if not _is_stopped(pod, row)]
    kills = [(row["at_seconds"], _kill_text(row)) for row in pod["kills"]]
    middle = top + height / 2
    drawn = _signs(_shared(frame, exits), lambda x: f"M{number(x)} {number(middle - 5)}l5 5l-5 5l-5-5z", "x")
    places = _shared(frame, kills)
    if len(places) * max(DENSE_MARKS, DENSE_MARKS * frame.column / 2) > frame.plot:
        # A row of crosses would hide the states: short strokes leave the lower half of the bar free.
        step = max(2.0, frame.column)
        xs = sorted({round(frame.x(at) / step) * step for at, _ in kills})
        strokes = "".join(f"M{number(x)} {number(top)}v5" for x in xs)
        return drawn + line(strokes, "kt", f"{len(kills)} kills by probes")
    return drawn + _signs(places, lambda x: f"M{number(x - 4)} {number(middle - 4)}l8 8m0-8l-8 8", "K", "k")


def _signs(places: Sequence[tuple[float, str]], shape: Callable[[float], str], *layers: str) -> str:
    """A sign at each place, in layers of which only the last one has titles; one path if there are no titles."""
    if not any(text for _, text in places):
        path = "".join(shape(x) for x, _ in places)
        return "".join(line(path, css) for css in layers)
    return "".join(line(shape(x), css, text if css == layers[-1] else "") for x, text in places for css in layers)


def _kill_text(row: KillRow) -> str:
    return f"killed by its {row['probe_type']} probe at {moment(row['at_seconds'])}: {row['reason_text']}"


def _exit_text(row: ExitRow) -> str:
    at = moment(row["at_seconds"])
    return f"{row['container']} ended by itself at {at}: exit code {row['exit_code']}, {row['reason']}"


def _shared(frame: Frame, marks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Marks with their places; marks that would cover each other are one."""
    found = []
    for _, group in groupby(marks, lambda mark: int(frame.x(mark[0]) // MARK_WIDTH)):
        rows = list(group)
        text = rows[0][1] + (f" (and {len(rows) - 1} more)" if len(rows) > 1 else "")
        found.append((frame.x(rows[0][0]), text if frame.has_titles else ""))
    return found


def _is_stopped(pod: PodRow, row: ExitRow) -> bool:
    """True if the kubelet stopped a container: the pod was in the grace of a kill or of its deletion."""
    at = row["at_seconds"]
    return any(
        span["state"] == "terminating" and span["from_seconds"] <= at <= span["to_seconds"] for span in pod["spans"]
    )


def _names(frame: Frame, pod: PodRow, size: LaneSize, name: str, top: float) -> tuple[str, float]:
    """The pod's name and its outcome, beside the lane or above it; and where the lane begins."""
    words, numbers, is_well = outcome(pod)
    title = f"{pod['name']} on {pod['node']}, version {pod['version']}"
    css = "G" if is_well else "B"
    sign = "✓ " if is_well else "✗ "
    if frame.is_narrow:
        shown = f"{sign}{words}" + (f", {numbers}" if numbers else "")
        room = frame.width - frame.left - len(shown) * 6.4 - 8
        drawn = label(frame.left, top + 11, clipped(name, room, 12), title=title)
        return drawn + label(frame.end, top + 11, shown, css, "end"), top + NAME_HEIGHT
    baseline = top + size.bar - 3
    drawn = label(0, baseline, clipped(name, frame.left - 8, 12), title=title)
    if size.has_strip_per_probe and pod["probes"]:
        drawn += label(frame.end + 8, baseline, sign + words, css)
        drawn += label(frame.end + 8, baseline + 15, numbers, "z") if numbers else ""
    else:
        shown = f"{sign}{words}" + (f", {numbers}" if numbers else "")
        drawn += label(frame.end + 8, baseline, clipped(shown, frame.right - 8, 11), f"{css} c", title=shown)
    return drawn, top


def _strip_label(frame: Frame, probe: ProbeRow, pod: PodRow, baseline: float) -> str:
    has_more = len({each["container"] for each in pod["probes"]}) > 1
    who = f"{probe['container']} {probe['type']}" if has_more and not frame.is_narrow else probe["type"]
    limit = f" ≤ {duration(probe['timeout_seconds'])}"
    text = who if frame.is_narrow else clipped(who, frame.left - 8 - len(limit) * 5.5, 10) + limit
    attempts = len(probe["attempts"]["t"]) + probe["dropped"]
    title = (
        f"{probe['type']} probe of {probe['container']}: every {duration(probe['period_seconds'])}, timeout"
        f" {duration(probe['timeout_seconds'])}, {probe['failure_threshold']} failures in a row; {attempts:,} attempts"
    )
    if probe["dropped"]:
        title += f", {probe['dropped']:,} of them not kept"
    return label(frame.left - 5, baseline, text, "y", "end", title)
