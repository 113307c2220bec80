"""A Prometheus histogram with fixed labels."""

from collections.abc import Iterator, Sequence


class Histogram:
    """Counts values by upper bound. ``bounds`` ascend; the last bucket, ``+Inf``, is added to them."""

    def __init__(self, name: str, text: str, bounds: Sequence[float]) -> None:
        self._name = name
        self._text = text
        self._bounds = bounds
        # Rendered labels -> a count per bucket, and the sum.
        self._series: dict[str, tuple[list[int], list[float]]] = {}

    def observe(self, value: float, labels: str = "") -> None:
        """Counts one value; ``labels`` are rendered already, as in ``operation_type="create"``."""
        counts, total = self._series.setdefault(labels, ([0] * (len(self._bounds) + 1), [0.0]))
        bucket = next((bucket for bucket, bound in enumerate(self._bounds) if value <= bound), len(self._bounds))
        counts[bucket] += 1
        total[0] += value

    def render(self) -> Iterator[str]:
        """The lines of the page; a histogram without labels is shown even before its first value."""
        yield f"# HELP {self._name} {self._text}"
        yield f"# TYPE {self._name} histogram"
        series = self._series or {"": ([0] * (len(self._bounds) + 1), [0.0])}
        for labels, (counts, (total,)) in sorted(series.items()):
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
