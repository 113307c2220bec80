"""The requests of a Service over time, in at most ``SERIES_POINTS_MAX`` points."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from probelet.cluster import LoadStep, ServiceRecord
from probelet.picture.document import SERIES_POINTS_MAX, SeriesRow

_RATES = ("offered", "served", "late", "lost")


def series(service: ServiceRecord, end: float) -> SeriesRow:
    """The step functions from 0 to ``end``. With too many changes, points of one width: their totals stay right, and
    of the endpoints the lowest number counts."""
    exact = {0.0, *(step.start for step in service.load), *(step.end for step in service.load)}
    exact |= {at for at, _ in (*service.endpoints, *service.wanted)}
    row = _row(service, exact, end)
    if len(row["t"]) > SERIES_POINTS_MAX:
        row = _row(service, {end * point / SERIES_POINTS_MAX for point in range(SERIES_POINTS_MAX)}, end)
    return row


def _row(service: ServiceRecord, moments: set[float], end: float) -> SeriesRow:
    edges = sorted({edge for moment in moments if (edge := round(moment, 3)) < end})
    integrals = {name: _Integral(service.load, name) for name in _RATES}
    endpoints, wanted = _Steps(service.endpoints), _Steps(service.wanted)
    row = SeriesRow(t=[], offered=[], served=[], late=[], lost=[], endpoints=[], wanted=[])
    last: tuple[float | int, ...] = ()
    for start, until in pairwise([*edges, end]):
        rates = [round(integrals[name].between(start, until) / (until - start), 3) for name in _RATES]
        point = (*rates, endpoints.least(start, until), wanted.at(start))
        if point != last:
            row["t"].append(start)
            for name, value in zip((*_RATES, "endpoints", "wanted"), point, strict=True):
                row[name].append(value)  # type: ignore[literal-required]
        last = point
    return row


class _Integral:
    """How many requests there were between two moments."""

    def __init__(self, load: Sequence[LoadStep], name: str) -> None:
        rates: list[float] = [getattr(step, name) for step in load]
        self._rates = rates
        self._starts = [step.start for step in load]
        self._end = load[-1].end if load else 0.0
        counts = [rate * (step.end - step.start) for rate, step in zip(rates, load, strict=True)]
        self._before = [0.0, *accumulate(counts)]

    def between(self, start: float, end: float) -> float:
        """The requests from ``start`` to ``end``."""
        return self._until(end) - self._until(start)

    def _until(self, moment: float) -> float:
        index = bisect_right(self._starts, moment) - 1
        if index < 0:
            return 0.0
        before, rate = self._before[index], self._rates[index]
        return before + rate * (min(moment, self._end) - self._starts[index])


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
        first, last = bisect_right(self._times, start), bisect_right(self._times, end)
        return min([self.at(start), *(self._values[i] for i in range(first, last) if self._times[i] < end)])
