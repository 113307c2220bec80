"""The charts of KEP-4603 as data: its numbers, read off its pictures, beside the model's.

In the charts of pod age a pod crashes ten seconds after each start. Its first two starts, at 110 and 118 seconds, were
observed on a cluster; every model continues from the second.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from probelet.lab.backoff.chart import Chart, Series
from probelet.lab.backoff.curve import Curve
from probelet.lab.backoff.life import Life, restarts
from probelet.lab.backoff.load import Crowd, load
from probelet.lab.backoff.sums import WINDOW_EDGES, delays, windows
from probelet.spec.text.duration import SECOND

OBSERVED: Final = (110.0, 118.0)
RUN_SECONDS: Final = 10
POINTS: Final = 12
NODE_PODS: Final = 110
"""A kubelet's default limit of pods (maxPods)."""

AGE, NUMBER = "pod age at the start (s)", "start of the container, in order"


def ages(name: str) -> list[float]:
    """The pod's age at each of its twelve starts with the curve ``name``."""
    found = restarts(Curve.parse(name, first_free=False), Life(run_ns=RUN_SECONDS * SECOND), count=POINTS - 2)
    return [*OBSERVED, *(OBSERVED[1] + restart.at_ns / SECOND for restart in found)]


def crossing(one: Sequence[float], other: Sequence[float]) -> int:
    """The first start at which ``one`` is later than ``other``; the number of starts plus one if it never is."""
    later = (n for n, (here, there) in enumerate(zip(one, other, strict=True), start=1) if here > there)
    return next(later, len(one) + 1)


RAPID: Final = ages("250ms/60s")
FLAT: Final = ages("5/5")

MEASURED: Final = (110, 118, 140, 171, 228, 325, 495, 780, 1083, 1382, 1740, 2215)
TODAY_SERIES = Series("today, 10 s to 300 s", "today", MEASURED, ages("10/300"), "as measured")
NEW_SERIES = Series(
    "new default, 1 s to 60 s",
    "new",
    (110, 118, 129, 141, 155, 173, 199, 241, 311, 381, 451, 521),
    ages("1/60"),
)
MINIMUM_SERIES = Series(
    "least max per node, 1 s", "minimum", (110, 118, 129, 140, 151, 162, 173, 184, 195, 206, 217, 228), ages("1/1")
)
FLAT_SERIES = Series(
    "flat 5 s after a success",
    "flat",
    (110, 118, 133, 148, 163, 178, 193, 208, 223, 238, 253, 268),
    FLAT,
)
RAPID_SERIES = Series(
    "Rapid, 250 ms to 60 s",
    "rapid",
    (110, 118, 128.3, 138.8, 149.8, 161.8, 175.8, 193.8, 219.8, 261.8, 331.8, 401.8),
    RAPID,
)
SECOND_SERIES = Series(
    "1 s to 300 s",
    "second",
    (110, 118, 129, 141, 155, 173, 199, 241, 315, 453, 719, 1241),
    ages("1/300"),
    "as published, without a max",
)

BINS = [f"{low}-{high} s" for low, high in pairwise(WINDOW_EDGES)]


def charts() -> list[Chart]:
    """All charts."""
    return [*_pod_ages(), *_delays(), *_bars(), _catch_up(), _node()]


def _pod_ages() -> list[Chart]:
    def chart(
        name: str, title: str, *series: Series, note: str = "", y_range: tuple[float, float] = (100, 3000)
    ) -> Chart:
        # The curves differ by a factor of ten at the end, and all begin at 110 s.
        return Chart(name, title, "lines", NUMBER, AGE, series, y_range=y_range, note=note, log=True)

    meet = crossing(RAPID, FLAT)
    return [
        chart(
            "restarts-vs-elapsed-all",
            "Starts of a crashing container: today and both proposals",
            TODAY_SERIES,
            NEW_SERIES,
            MINIMUM_SERIES,
        ),
        chart(
            "restarts-vs-elapsed-new-default",
            "Starts of a crashing container: today and the new default",
            TODAY_SERIES,
            NEW_SERIES,
        ),
        chart(
            "restarts-vs-elapsed-minimum-per-node",
            "Starts of a crashing container: today and the least max per node",
            TODAY_SERIES,
            MINIMUM_SERIES,
        ),
        chart("crashloopbackoff-succeedingcontainer", "Starts of a container that exits every 10 s", TODAY_SERIES),
        chart("todayvsrapid", "Starts of a crashing container: today and Rapid", TODAY_SERIES, RAPID_SERIES),
        chart(
            "flatratesuccessvstoday",
            "Starts of a container that exits with 0: today and a flat 5 s",
            TODAY_SERIES,
            FLAT_SERIES,
        ),
        chart(
            "successvsrapidwhenfailed",
            "A flat rate after a success, Rapid after a failure",
            FLAT_SERIES,
            RAPID_SERIES,
            y_range=(100, 500),
            note=f"Rapid is the earlier one up to start {meet - 1}, the flat rate from start {meet} on.",
        ),
        chart("todayvs1sbackoff", "Starts of a crashing container: today and from 1 s", TODAY_SERIES, SECOND_SERIES),
    ]


def _delays() -> list[Chart]:
    inks = {"10s": "today", "1s": "second", "250ms": "rapid", "25ms": "tiny"}
    drawn = {"10s": 5, "1s": 9, "250ms": 11, "25ms": 14}
    series = [
        Series(
            f"from {initial}",
            ink,
            [Curve.parse(f"{initial}/1h").initial_ns / SECOND * 2**n for n in range(drawn[initial])],
            delays(f"{initial}/300s", 15),
            "published, up to the max",
        )
        for initial, ink in inks.items()
    ]
    title = "Delay before each restart, from different initial values to 300 s"
    return [
        Chart(
            "differentinitialvalues",
            title,
            "dots",
            "restart",
            "delay before it (s)",
            series,
            y_range=(0.01, 30000),
            log=True,
        )
    ]


def _bars() -> list[Chart]:
    def bars(name: str, title: str, published: dict[str, tuple[str, list[int]]]) -> Chart:
        series = [Series(curve, ink, there, windows(curve)) for curve, (ink, there) in published.items()]
        return Chart(name, title, "bars", "time after the first exit", "restarts", series, x=BINS)

    return [
        bars(
            "initialvaluesandnumberofrestarts",
            "Restarts in each window, max 300 s, from different initial values",
            {
                "10s/300s": ("today", [1, 1, 1, 1, 1]),
                "1s/300s": ("second", [3, 1, 2, 1, 1]),
                "250ms/300s": ("rapid", [5, 1, 2, 1, 1]),
                "25ms/300s": ("tiny", [7, 2, 1, 1, 1]),
            },
        ),
        bars(
            "initialvaluesandmaxonnumberofrestarts",
            "Restarts in each window, from two initial values to two maxima",
            {
                "10s/60s": ("today", [1, 1, 1, 1, 3]),
                "10s/30s": ("flat", [1, 2, 1, 3, 5]),
                "1s/60s": ("new", [3, 2, 1, 1, 3]),
                "1s/30s": ("minimum", [3, 2, 1, 4, 5]),
            },
        ),
    ]


def _catch_up() -> Chart:
    """Five short delays, one that catches up with today's ten minutes, then the maximum."""
    short = delays("1/300", 5)
    series = [
        Series("today, 10 s to 300 s", "today", [10, 20, 40, 80, 160, 300, 300, 300], delays("10/300", 8)),
        Series("1 s with a catch-up", "second", [1, 2, 4, 8, 16, 569, 300, 300], [*short, 600 - sum(short), 300, 300]),
    ]
    title = "Delay before each restart: today, and 1 s with a catch-up delay"
    return Chart(
        "controlfornumberofrestarts",
        title,
        "steps",
        "restart",
        "delay before it (s)",
        series,
        y_range=(0.5, 1000),
        log=True,
    )


def _node() -> Chart:
    """Not in the KEP: the restarts that its curves cause on a full node, as shipped."""
    names = {"10s/300s": "today", "1s/60s": "new", "1s/1s": "minimum"}
    series = [Series(name, ink, model=[float(n) for n in _node_restarts(name)]) for name, ink in names.items()]
    title = f"Restarts of a node whose {NODE_PODS} pods all crash at once, per 10 s"
    since = "seconds since the first start"
    note = "Not in the KEP. As shipped: the first restart is free."
    return Chart(
        "node-restarts",
        title,
        "steps",
        since,
        "restarts in 10 s",
        series,
        width=10,
        y_range=(10, 5000),
        note=note,
        log=True,
        panels=True,
    )


def _node_restarts(name: str) -> list[int]:
    crowd = Crowd(Curve.parse(name), NODE_PODS)
    return load([crowd], window_ns=300 * SECOND, slot_ns=10 * SECOND).slots
