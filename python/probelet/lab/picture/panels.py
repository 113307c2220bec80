"""The panels above the lanes: requests served, late and lost, and replicas ready, as step functions; and the axis."""

from collections.abc import Sequence
from math import ceil

from probelet.lab.picture.columns import is_ready, ready_counts, runs, steps, worst_points
from probelet.lab.picture.document import PodRow, ServiceRow
from probelet.lab.picture.markup import CHARACTER_WIDTH, clipped, label, line, number
from probelet.lab.picture.scale import Frame, duration, tick_text, time_ticks, value_ticks

REQUESTS_HEIGHT = 92.0
REPLICAS_HEIGHT = 44.0
CAPTION = 16.0
GAP = 10.0
AXIS_HEIGHT = 18.0
TICK_WIDTH = 64.0


def requests(frame: Frame, service: ServiceRow, highest: float, top: float) -> tuple[str, float]:
    """Requests per second: in time, late and lost, one above the other, and the offered ones as a line; its height."""
    series, totals = service["series"], service["totals"]
    points = worst_points(frame, series)
    late = [series["late"][n] for n in points]
    served = [series["served"][n] for n in points]
    upper = [series["served"][n] + series["lost"][n] for n in points]
    caption = f"requests per second to {service['name']}"
    numbers = f"{totals['lost']:,} lost, {totals['late']:,} late, {totals['served'] - totals['late']:,} in time"
    base = top + CAPTION + REQUESTS_HEIGHT
    title = (
        f"{service['name']}: {totals['offered']:,} requests, {numbers};"
        f" late after {duration(service['slo_seconds'])}, lost after {duration(service['timeout_seconds'])}"
    )
    drawn = _caption(frame, caption, numbers, top, title)
    drawn += _ticks(frame, highest, REQUESTS_HEIGHT, base)
    layers = (
        (upper, "lo", "lost"),
        (served, "ql", "late"),
        ([max(0.0, a - b) for a, b in zip(served, late, strict=True)], "r", "in time"),
    )
    for values, css, name in layers:
        drawn += line(_area(frame, values, highest, REQUESTS_HEIGHT, base), css, name)
    drawn += line(
        _outline(frame, [series["offered"][n] for n in points], highest, REQUESTS_HEIGHT, base), "o", "offered"
    )
    return drawn, CAPTION + REQUESTS_HEIGHT + GAP


def replicas(
    frame: Frame, name: str, pods: Sequence[PodRow], service: ServiceRow | None, highest: float, top: float
) -> tuple[str, float]:
    """Ready replicas of a workload, and those it wants as a dashed line; and the height."""
    t, counts = ready_counts(pods)
    ready = steps(frame, t, counts, min)
    base = top + CAPTION + REPLICAS_HEIGHT
    numbers = ""
    wanted: list[float] = []
    if service is not None and service["series"]["t"]:
        wanted = steps(frame, service["series"]["t"], service["series"]["wanted"], max)
        numbers = f"{sum(is_ready(pod) for pod in pods)} of {service['series']['wanted'][-1]} at the end"
    drawn = _caption(frame, f"ready replicas of {name}", numbers, top, "")
    drawn += _ticks(frame, highest, REPLICAS_HEIGHT, base)
    drawn += line(_area(frame, ready, highest, REPLICAS_HEIGHT, base), "r")
    drawn += line(_outline(frame, ready, highest, REPLICAS_HEIGHT, base), "rl", "ready")
    drawn += line(_outline(frame, wanted, highest, REPLICAS_HEIGHT, base), "w", "wanted")
    return drawn, CAPTION + REPLICAS_HEIGHT + GAP


def highest_ready(pods: Sequence[PodRow], service: ServiceRow | None) -> float:
    """The top of a panel of replicas."""
    wanted = service["series"]["wanted"] if service is not None else []
    return float(max([1, *ready_counts(pods)[1], *wanted]))


def axis(frame: Frame, top: float) -> tuple[str, float]:
    """The labels of the time axis, and their height."""
    ticks, step = time_ticks(frame.seconds, ceil(frame.plot / TICK_WIDTH))
    drawn = line(f"M{number(frame.left)} {number(top + 0.5)}H{number(frame.end)}", "e")
    for at in ticks:
        x, text = frame.x(at), tick_text(at, step, frame.seconds)
        is_last = x + len(text) * 11 * CHARACTER_WIDTH / 2 > frame.width
        anchor = "end" if is_last else "middle" if at or frame.left > 8 else ""
        drawn += label(x, top + 13, text, "z", anchor)
    return drawn, AXIS_HEIGHT


def grid(frame: Frame, top: float, bottom: float) -> str:
    """A line at each tick of the time axis, behind everything."""
    ticks, _ = time_ticks(frame.seconds, ceil(frame.plot / TICK_WIDTH))
    return line("".join(f"M{frame.x(at):.1f} {top:.1f}V{bottom:.1f}" for at in ticks), "g")


def _caption(frame: Frame, text: str, numbers: str, top: float, title: str) -> str:
    room = frame.plot - len(numbers) * 11 * CHARACTER_WIDTH - 12
    if frame.is_narrow and len(text) * 12 * CHARACTER_WIDTH > room:
        room, numbers = frame.plot, ""
    drawn = label(frame.left, top + 11, clipped(text, room, 12), "h", title=title)
    if numbers:
        drawn += label(frame.end, top + 11, numbers, "z", "end")
    return drawn


def _ticks(frame: Frame, highest: float, height: float, base: float) -> str:
    drawn = ""
    for value in value_ticks(highest, 5) if height > REPLICAS_HEIGHT else [0.0, highest]:
        y = base - height * value / highest
        drawn += line(f"M{number(frame.left)} {y:.1f}H{number(frame.end)}", "g")
        drawn += label(frame.left - 5, y + 3.5, f"{value:,.10g}", "y", "end")
    return drawn


def _area(frame: Frame, values: Sequence[float], highest: float, height: float, base: float) -> str:
    if not any(values):
        return ""
    return f"M{number(frame.left)} {number(base)}{_stairs(frame, values, highest, height, base)}V{number(base)}z"


def _outline(frame: Frame, values: Sequence[float], highest: float, height: float, base: float) -> str:
    if not values:
        return ""
    stairs = _stairs(frame, values, highest, height, base)
    first, rest = stairs[1:].split("H", 1)
    return f"M{number(frame.left)} {first}H{rest}"


def _stairs(frame: Frame, values: Sequence[float], highest: float, height: float, base: float) -> str:
    heights = [round(base - height * min(1.0, value / highest), 1) for value in values]
    return "".join(f"V{number(y)}H{number(frame.column_x(last))}" for _, last, y in runs(heights))
