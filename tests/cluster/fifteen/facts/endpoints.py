"""How a pod goes in and out of its Service, and how soon after the answer that decides."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from tests.cluster.fifteen.facts.turns import Life, Turns
from tests.cluster.fifteen.pods import IN_AND_OUT
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.instance import at

OUT_SECONDS = 0.25
"""The medians of two sides may be so far apart, times the pace: a condition passes three processes on its way."""
READY = "ready serving"
ANSWERS = {IN_AND_OUT: "http r", "readiness-turns": "http r", "grpc": "grpc grpc:ready"}
"""Pods that fail at once when they are asked, and the probe whose answers decide."""


def facts(side: ClusterSide, other: ClusterSide, pod: str) -> list[Fact]:
    lives = Life.of(side, pod), Life.of(other, pod)
    mine, theirs = (_turns(one, pod).since(READY).without_dips(READY, pod) for one in (side, other))
    states = [state for _, state in _turns(side, pod).rows]
    before = states.index(READY) if READY in states else 0
    return [
        *mine.facts("endpoint", theirs, pod, *lives),
        Fact("endpoint: states before it is ready", [state for state in states[:before] if state != "absent"]),
    ]


def _turns(side: ClusterSide, pod: str) -> Turns:
    rows = [(moment, states.get(pod, "absent")) for moment, states in side.endpoints(pod)]
    return Turns.of(rows, side.end_of(pod))


def medians(side: ClusterSide) -> list[Fact]:
    """Of the whole side."""
    usual = median(out_after(side) or [0.0])
    return [Fact("median: from a failed answer to the endpoint's absence, s", usual, OUT_SECONDS)]


def out_after(side: ClusterSide) -> list[float]:
    """Seconds from the answer that decides to the endpoint that is not ready any more, each time."""
    return sorted(seconds for pod in ANSWERS if side.of(pod) for seconds in _out_after(side, pod))


def _out_after(side: ClusterSide, pod: str) -> Iterator[float]:
    rows = _turns(side, pod).rows
    answers = [at(note) for one in side.of(pod).get("app", []) for note in one.probes().get(ANSWERS[pod], [])]
    for (_, before), (moment, state) in pairwise(rows):
        if before.startswith("ready") and not state.startswith("ready"):
            yield moment - max(answer for answer in answers if answer < moment)
