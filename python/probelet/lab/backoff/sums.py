"""The arithmetic of KEP-4603: the restarts of one container within a part of its life, in seconds."""

from itertools import pairwise
from typing import Final

from probelet.lab.backoff.curve import Curve
from probelet.lab.backoff.life import Life, restarts
from probelet.spec.text.duration import SECOND

WINDOW_EDGES: Final = (0, 10, 30, 70, 150, 310)
"""The five windows in which the KEP counts restarts: 0 and today's advertised restart times."""


def times(name: str, until: float, *, run: float = 0, free: bool = False) -> list[float]:
    """Restart times up to and including ``until``, as advertised; ``free``: as shipped, with a free first restart."""
    curve = Curve.parse(name, first_free=free)
    life = Life(run_ns=round(run * SECOND))
    found = restarts(curve, life, count=1_000_000, until_ns=round(until * SECOND))
    return [restart.at_ns / SECOND for restart in found]


def count(name: str, low: float, high: float, *, run: float = 0, free: bool = False, edges: str = "(]") -> int:
    """Restarts between two times; ``edges`` says whether each end is included."""
    found = times(name, high, run=run, free=free)
    return sum((at > low or (at == low and edges[0] == "[")) and (at < high or edges[1] == "]") for at in found)


def excess(name: str, low: float, high: float, *, free: bool = False, edges: str = "(]") -> int:
    """The restarts in excess of today's curve."""
    return count(name, low, high, free=free, edges=edges) - count("10/300", low, high, free=free, edges=edges)


def windows(name: str) -> list[float]:
    """Advertised restarts in each of the five windows."""
    edges = pairwise(WINDOW_EDGES)
    return [count(name, low, high) for low, high in edges]


def delays(name: str, n: int, *, free: bool = False) -> list[float]:
    """The first ``n`` delays."""
    return [restart.delay_ns / SECOND for restart in restarts(Curve.parse(name, first_free=free), count=n)]
