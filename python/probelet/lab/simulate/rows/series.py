"""The requests of a Service over time, in at most ``SERIES_POINTS_MAX`` points."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from probelet.lab.picture.document import SERIES_POINTS_MAX, SeriesRow
from probelet.virtual.cluster import LoadStep, ServiceRecord

_RATES = ("offered", "served", "late", "lost")


def series(service: ServiceRecord, end: float) -> SeriesRow:
    """The step functions from 0 to ``end``. With too many changes, points of one width: their totals stay right, and
    of the endpoints the lowest number counts."""
    exact = {0.0, *(step.start for step in service.load), *(step.end for step in service.load)}
    exact |= {at for at, _ in (*service.endpoints, *service.wanted)}
    row = _row(service, exact, end)
    if row is None:
        row = _row(service, {end * point / SERIES_POINTS_MAX for point in range(SERIES_POINTS_MAX)}, end)
    assert row is not None, "there are no more points than moments"
    return row


def _row(service: ServiceRecord, moments: set[float], end: float) -> SeriesRow | None:
    """A point for each moment at which something changes; None if these are too many."""
    edges = sorted({edge for moment in moments if (edge := round(moment, 3)) < end})
    totals = _Totals(service.load)
    endpoints, wanted = _Steps(service.endpoints), _Steps(service.wanted)
    row = SeriesRow(t=[], offered=[], served=[], late=[], lost=[], endpoints=[], wanted=[])
    last: tuple[float | int, ...] = ()
    before = totals.until(edges[0])
    for start, until in pairwise([*edges, end]):
        now, length = totals.until(until), until - start
        rates = [round((after - count) / length, 3) for count, after in zip(before, now, strict=True)]
        before = now
        point = (*rates, endpoints.least(start, until), wanted.at(start))
        if point != last:
            if len(row["t"]) == SERIES_POINTS_MAX:
                return None
            row["t"].append(start)
            for name, value in zip((*_RATES, "endpoints", "wanted"), point, strict=True):
                row[name].append(value)  # type: ignore[literal-required]
        last = point
    return row


class _Totals:
    """How many requests of each kind there were until a moment; a moment is never before the one asked about last."""

    def __init__(self, load: Sequence[LoadStep]) -> None:
        self._load = load
        self._step = 0
        # The requests of the steps before this one.
        self._before = (0.0, 0.0, 0.0, 0.0)

    def until(self, moment: float) -> tuple[float, float, float, float]:
        """The requests until ``moment``, in the order of ``_RATES``."""
        while self._step < len(self._load):
            step = self._load[self._step]
            if moment < step.end:
                return self._with(step, max(0.0, moment - step.start))
            self._before = self._with(step, step.end - step.start)
            self._step += 1
        return self._before

    def _with(self, step: LoadStep, length: float) -> tuple[float, float, float, float]:
        offered, served, late, lost = self._before
        return (
            offered + step.offered * length,
            served + step.served * length,
            late + step.late * length,
            lost + step.lost * length,
        )


class _Steps:
    """A number that holds from each time on; 0 before the first."""

    def __init__(self, steps: Sequence[tuple[float, int]]) -> None:
        self._times = [at for at, _ in steps]
        self._values = [value for _, value in steps]

    def at(self, moment: float) -> int:
        """The number at a moment."""
        index = bisect_right(self._times, moment) - 1
        return self._values[index] if index >= 0 else 0

    def least(self, start: float, end: float) -> int:
        """The lowest number from ``start`` until before ``end``."""
        least, index = self.at(start), bisect_right(self._times, start)
        while index < len(self._times) and self._times[index] < end:
            least = min(least, self._values[index])
            index += 1
        return least
