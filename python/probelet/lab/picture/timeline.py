"""The whole drawing: one run, or two of them one above the other on one time axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from probelet.lab.picture import faults, panels
from probelet.lab.picture.document import PodRow, RunRow, ServiceRow, SimulateDocument
from probelet.lab.picture.heat_map import LANES_MAX, heat_map
from probelet.lab.picture.lanes import SHARED_STRIP_PODS, lane, lane_size
from probelet.lab.picture.legend import legend
from probelet.lab.picture.markup import CHARACTER_WIDTH, box, clipped, label, line, number
from probelet.lab.picture.scale import Frame
from probelet.lab.picture.wording import grade, headline, names_of, runs_of

WIDE: Final = 1080.0
NARROW: Final = 400.0
SERVICES_MAX: Final = 4
"""Panels of further Services would push the lanes off the screen. Services that lost most come first."""

HEADING: Final = 22.0
HEADING_LINE: Final = 17.0


@dataclass(frozen=True)
class Detail:
    """How much a drawing shows."""

    column: float
    """The width in pixels under which everything is merged."""
    has_titles: bool
    """Whether marks and spans say more to a pointer."""


@dataclass(frozen=True)
class Drawing:
    """Markup within a width and a height."""

    markup: str
    width: float
    height: float


def frame_of(document: SimulateDocument, width: float, detail: Detail) -> Frame:
    """The time axis of a picture. A narrow one has its names above the lanes, and a heat map has none."""
    left, right = 52.0, 0.0
    if width >= WIDE:
        left, right = (150.0, 178.0) if _has_lanes(document) else (52.0, 140.0)
    seconds = max(document["scenario"]["duration_seconds"], 0.001)
    return Frame(width, left, right, seconds, detail.column, detail.has_titles and width >= WIDE)


def _has_lanes(document: SimulateDocument) -> bool:
    return any(0 < len(run["pods"]) <= LANES_MAX for run in runs_of(document))


def draw(document: SimulateDocument, width: float, detail: Detail) -> Drawing:
    """The picture of a document."""
    frame, runs = frame_of(document, width, detail), runs_of(document)
    found, y = legend(width, runs, _has_lanes(document), 0.0)
    drawn = [found]
    for run, name in zip(runs, names_of(runs), strict=True):
        if len(runs) > 1:
            found, height = _heading(frame, document, run, name, y)
            drawn.append(found)
            y += height
        found, height = _run(frame, document, run, runs, y)
        drawn.append(found)
        y += height
    return Drawing("".join(drawn), width, y)


def _heading(frame: Frame, document: SimulateDocument, run: RunRow, name: str, top: float) -> tuple[str, float]:
    """The name of one of several runs and how it ended, in two lines where one has no room; and their height."""
    css, sign = grade(run)
    end = f"{sign} {headline(run, document['scenario'])}"
    rule = line(f"M0 {number(top + 1.5)}H{number(frame.width)}", "e")
    room = frame.width - len(end) * 13 * CHARACTER_WIDTH - 12
    if len(name) * 13 * CHARACTER_WIDTH > room:
        drawn = label(0, top + 17, clipped(name, frame.width, 13), "h")
        return rule + drawn + label(0, top + 17 + HEADING_LINE, end, f"h {css}"), HEADING + HEADING_LINE
    return rule + label(0, top + 17, name, "h") + label(frame.width, top + 17, end, f"h {css}", "end"), HEADING


def _run(
    frame: Frame, document: SimulateDocument, run: RunRow, runs: Sequence[RunRow], top: float
) -> tuple[str, float]:
    scenario = document["scenario"]
    above, height = faults.labels(frame, scenario["faults"], top)
    y = top + height
    found, height = faults.recovery(frame, run, scenario, y)
    above, y = above + found, y + height + 4
    start = y
    drawn = []
    for part in (_services, _workloads):
        if part is _workloads and len(run["pods"]) > SHARED_STRIP_PODS:
            # The axis at the end is off the screen.
            found, height = panels.axis(frame, y - panels.GAP)
            drawn.append(found)
            y += height
        found, height = part(frame, run, runs, y)
        drawn.append(found)
        y += height
    behind = panels.grid(frame, start, y)
    if run["played_seconds"] < scenario["duration_seconds"]:
        x = frame.x(run["played_seconds"])
        behind += box(x, start, frame.end - x, y - start, "P", "not simulated")
    shade = faults.bands(frame, scenario["faults"], start - 3, y)
    ticks, height = panels.axis(frame, y)
    over = faults.edges(frame, scenario["faults"], start - 3, y)
    return above + behind + shade + "".join(drawn) + over + ticks, y + height + 10 - top


def _services(frame: Frame, run: RunRow, runs: Sequence[RunRow], top: float) -> tuple[str, float]:
    """The panels of requests and replicas; runs one above the other have equal axes."""
    order = sorted(run["services"], key=lambda service: -service["totals"]["lost"])
    shown = {service["name"] for service in order[:SERVICES_MAX]}
    drawn, y = [], top
    for service in run["services"]:
        if service["name"] in shown:
            found, height = panels.requests(frame, service, _highest_rate(service["name"], runs), y)
            drawn.append(found)
            y += height
            found, height = _replicas(frame, service["workload"], service, run, runs, y)
            drawn.append(found)
            y += height
    if len(order) > SERVICES_MAX:
        lost = sum(service["totals"]["lost"] for service in order[SERVICES_MAX:])
        drawn.append(
            label(frame.left, y + 8, f"{len(order) - SERVICES_MAX} more Services, {lost:,} requests lost", "z")
        )
        y += 18
    if not run["services"]:
        for workload in list(dict.fromkeys(pod["workload"] for pod in run["pods"]))[:SERVICES_MAX]:
            found, height = _replicas(frame, workload, None, run, runs, y)
            drawn.append(found)
            y += height
    return "".join(drawn), y - top


def _replicas(
    frame: Frame, workload: str, service: ServiceRow | None, run: RunRow, runs: Sequence[RunRow], top: float
) -> tuple[str, float]:
    highest = max(panels.highest_ready(_pods(each, workload), service) for each in runs)
    return panels.replicas(frame, workload, _pods(run, workload), service, highest, top)


def _highest_rate(name: str, runs: Sequence[RunRow]) -> float:
    series = [service["series"] for run in runs for service in run["services"] if service["name"] == name]
    tops = [a + b for each in series for a, b in zip(each["served"], each["lost"], strict=True)]
    return max([*tops, *(rate for each in series for rate in each["offered"])], default=0.0) or 1.0


def _pods(run: RunRow, workload: str) -> list[PodRow]:
    return [pod for pod in run["pods"] if pod["workload"] == workload]


def _workloads(frame: Frame, run: RunRow, _runs: Sequence[RunRow], top: float) -> tuple[str, float]:
    """The lanes of all pods, by workload; or the heat map."""
    pods = run["pods"]
    if len(pods) > LANES_MAX:
        return heat_map(frame, pods, top)
    size, drawn, y = lane_size(pods), [], top
    names = _short_names(pods)
    for workload, group in groupby(pods, lambda pod: pod["workload"]):
        drawn.append(label(0 if not frame.is_narrow else frame.left, y + 12, clipped(workload, frame.plot, 12), "z"))
        y += 20
        for pod in group:
            found, height = lane(frame, pod, size, names[pod["name"]], y)
            drawn.append(found)
            y += height
    return "".join(drawn), y - top


def _short_names(pods: Sequence[PodRow]) -> dict[str, str]:
    """The pods' names as they are shown: without the namespace if all have one, with the version if there are more."""
    has_one = len({pod["name"].partition("/")[0] for pod in pods}) == 1
    versions = {pod["workload"]: max(p["version"] for p in pods if p["workload"] == pod["workload"]) for pod in pods}
    return {
        pod["name"]: (pod["name"].partition("/")[2] or pod["name"] if has_one else pod["name"])
        + (f" v{pod['version']}" if versions[pod["workload"]] > 1 else "")
        for pod in pods
    }
