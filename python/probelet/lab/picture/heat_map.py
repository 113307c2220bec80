"""Many pods: a thin row for each, the state as colour, kills as dots."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from probelet.lab.picture.columns import STATES, runs, state_columns
from probelet.lab.picture.document import PodRow
from probelet.lab.picture.markup import box, clipped, element, label, line, number
from probelet.lab.picture.scale import Frame
from probelet.lab.picture.wording import count, outcome

LANES_MAX: Final = 40
"""With more pods there is a heat map."""

ROWS_MAX: Final = 300
"""With more pods, neighbours share a row, which shows the worst of their states."""

TITLED_MAX: Final = 4
HEIGHT: Final = 620.0
ROW_MAX: Final = 9.0
ROW_WITH_GAP: Final = 6.0
HEADING: Final = 17.0

CLASSES: Final = {
    "ready": "hr",
    "starting": "hs",
    "unready": "hu",
    "back_off": "hb",
    "terminating": "ht",
    "pending": "hp",
}


def heat_map(frame: Frame, pods: Sequence[PodRow], top: float) -> tuple[str, float]:
    """The rows of all pods, by workload and version; and their height."""
    shared = -(-len(pods) // ROWS_MAX)
    row = min(ROW_MAX, HEIGHT / (len(pods) / shared))
    drawn, y = [], top
    for (workload, version), group in groupby(pods, lambda pod: (pod["workload"], pod["version"])):
        members = list(group)
        drawn.append(_heading(frame, workload, version, members, shared, y))
        y += HEADING
        rows = [members[n : n + shared] for n in range(0, len(members), shared)]
        drawn.append(_rows(frame, rows, row, y))
        y += len(rows) * row + 6
    return "".join(drawn), y - top


def _heading(frame: Frame, workload: str, version: int, members: Sequence[PodRow], shared: int, top: float) -> str:
    ends = Counter(outcome(pod)[0].split(" at ")[0].split(" since ")[0] for pod in members)
    found = ", ".join(f"{number} {words}" for words, number in ends.most_common())
    text = f"{workload}, version {version}: {count(len(members), 'pod')}"
    if shared > 1:
        text += f", {shared} to a row"
    title = f"{text}. At the end: {found}"
    drawn = label(
        frame.left, top + 12, clipped(text, frame.plot * (1 if frame.is_narrow else 0.55), 12), "h", title=title
    )
    room = frame.plot * 0.42
    return drawn if frame.is_narrow else drawn + label(frame.end, top + 12, clipped(found, room, 12), "z", "end", title)


def _rows(frame: Frame, rows: Sequence[Sequence[PodRow]], row: float, top: float) -> str:
    paths: dict[str, list[str]] = {state: [] for state in CLASSES}
    kills, titles = [], []
    for n, pods in enumerate(rows):
        middle = top + (n + 0.5) * row
        columns = [state_columns(frame, pod["spans"]) for pod in pods]
        for first, last, state in runs([max(states) for states in zip(*columns, strict=True)]):
            if STATES[int(state)] in paths:
                left, right = frame.column_x(first), frame.column_x(last)
                paths[STATES[int(state)]].append(f"M{number(left)} {middle:.1f}H{number(right)}")
        places = sorted({int(frame.x(kill["at_seconds"])) for pod in pods for kill in pod["kills"]})
        kills += [f"M{x} {middle:.1f}h0" for x in _apart(places, max(frame.column, 3))]
        if frame.has_titles:
            titles.append(box(frame.left, middle - row / 2, frame.plot, row, "i", _title(pods)))
    drawn = [line("".join(path), CLASSES[state]) for state, path in paths.items()]
    gap = 1.0 if row >= ROW_WITH_GAP else 0.0
    found = element("g", "".join(drawn), stroke_width=row - gap)
    size = min(4.0, max(2.0, row - gap))
    if row > size + 2:
        found += element("g", line("".join(kills), "kh"), stroke_width=size + 2)
    return found + element("g", line("".join(kills), "kd"), stroke_width=size) + "".join(titles)


def _apart(places: Sequence[int], distance: float) -> list[int]:
    """Places with some distance between them: one mark stands for several kills."""
    found: list[int] = []
    for place in places:
        if not found or place - found[-1] >= distance:
            found.append(place)
    return found


def _title(pods: Sequence[PodRow]) -> str:
    texts = []
    for pod in pods[:TITLED_MAX]:
        words, numbers, _ = outcome(pod)
        kills = [count(len(pod["kills"]), "kill")] if pod["kills"] else []
        texts.append(f"{pod['name']}: {', '.join([words, *([numbers] if numbers else []), *kills])}")
    return "; ".join(texts) + (f"; {len(pods) - TITLED_MAX} more" if len(pods) > TITLED_MAX else "")
