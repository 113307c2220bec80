"""A Prometheus histogram with fixed labels."""

from collections.abc import Iterator, Sequence

from probelet.base.exposition.family import head, pairs


class Histogram:
    """Counts values by upper bound. ``bounds`` ascend; the last bucket, ``+Inf``, is added to them."""

    def __init__(self, name: str, text: str, bounds: Sequence[float], *labels: str) -> None:
        self._name = name
        self._text = text
        self._bounds = bounds
        self._labels = labels
        # The labels' values -> a count per bucket, and the sum.
        self._series: dict[tuple[str, ...], tuple[list[int], list[float]]] = {}

    def observe(self, value: float, *of: str) -> None:
        """Counts one value; ``of`` are the values of the labels."""
        counts, total = self._series.setdefault(of, ([0] * (len(self._bounds) + 1), [0.0]))
        bucket = next((bucket for bucket, bound in enumerate(self._bounds) if value <= bound), len(self._bounds))
        counts[bucket] += 1
        total[0] += value

    def render(self) -> Iterator[str]:
        """The lines of the page; a histogram is shown even before its first value, then without labels."""
        yield from head("histogram", self._name, self._text)
        series = self._series or {(): ([0] * (len(self._bounds) + 1), [0.0])}
        for of, (counts, (total,)) in sorted(series.items()):
            labels = pairs(self._labels, of) if of else ""
            below = 0
            for bound, count in zip([*map(_number, self._bounds), "+Inf"], counts, strict=True):
                below += count
                inner = f'{labels},le="{bound}"' if labels else f'le="{bound}"'
                yield f"{self._name}_bucket{{{inner}}} {below}"
            outer = f"{{{labels}}}" if labels else ""
            yield f"{self._name}_sum{outer} {total:.9g}"
            yield f"{self._name}_count{outer} {below}"


def _number(bound: float) -> str:
    return f"{bound:g}"
