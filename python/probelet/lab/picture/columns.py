"""Step functions and spans, merged to columns: the worst value in a column survives."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from probelet.lab.picture.document import PodRow, SeriesRow, SpanRow
from probelet.lab.picture.scale import Frame

STATES: Final = ("gone", "ready", "starting", "pending", "terminating", "unready", "back_off")
"""From the best state to the worst. A pod that is gone hides nothing: in a shared row the others count."""


def steps(
    frame: Frame, t: Sequence[float], values: Sequence[float], worst: Callable[[Iterable[float]], float]
) -> list[float]:
    """One value for each column of a step function: the worst of those it takes there. Empty for an empty function."""
    if not t:
        return []
    merged: list[float] = []
    point = 0
    for column in range(frame.columns):
        end = frame.seconds * (column + 1) / frame.columns
        first = point
        while point + 1 < len(t) and t[point + 1] < end:
            point += 1
        merged.append(worst(values[first : point + 1]))
    return merged


def worst_points(frame: Frame, series: SeriesRow) -> list[int]:
    """For each column the point of the series with the most lost requests, of equal ones that with the most late."""
    order = sorted(range(len(series["t"])), key=lambda n: (series["lost"][n], series["late"][n]))
    rank = [0.0] * len(order)
    for place, point in enumerate(order):
        rank[point] = place
    return [order[int(place)] for place in steps(frame, series["t"], rank, max)]


def ready_counts(pods: Iterable[PodRow]) -> tuple[list[float], list[float]]:
    """How many pods are ready, as a step function from 0 on."""
    changes: dict[float, int] = {0.0: 0}
    for pod in pods:
        for span in pod["spans"]:
            if span["state"] == "ready":
                changes[span["from_seconds"]] = changes.get(span["from_seconds"], 0) + 1
                changes[span["to_seconds"]] = changes.get(span["to_seconds"], 0) - 1
    t, counts, count = sorted(changes), [], 0
    for at in t:
        count += changes[at]
        counts.append(float(count))
    return t, counts


def is_ready(pod: PodRow) -> bool:
    """True if a pod is ready at the end."""
    return bool(pod["spans"]) and pod["spans"][-1]["state"] == "ready"


def state_columns(frame: Frame, spans: Iterable[SpanRow]) -> bytearray:
    """The worst state in each column, as its place in `STATES`."""
    columns = bytearray(frame.columns)
    for span in sorted(spans, key=lambda span: STATES.index(span["state"])):
        if span["to_seconds"] > span["from_seconds"]:
            place = frame.slice(span["from_seconds"], span["to_seconds"])
            columns[place] = bytes([STATES.index(span["state"])]) * (place.stop - place.start)
    return columns


def runs(columns: Sequence[float]) -> list[tuple[int, int, float]]:
    """Equal neighbours as one: first column, column after the last, value."""
    found: list[tuple[int, int, float]] = []
    first = 0
    for column in range(1, len(columns) + 1):
        if column == len(columns) or columns[column] != columns[first]:
            found.append((first, column, columns[first]))
            first = column
    return found
