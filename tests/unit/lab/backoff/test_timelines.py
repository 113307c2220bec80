"""The first thirty restarts of a container that crashes at once, for every proposed curve."""

import pytest
from probelet.lab.backoff import Crowd, Curve, load, restarts

from tests.unit.lab.backoff.naive import SECOND, advertised, count, shipped

# INITIAL/MAX in seconds -> seconds of the first thirty restarts, the free one included.
SHIPPED = {
    "10/300": [0, 10, 30, 70, 150, 310, *range(610, 7511, 300)],
    "1/60": [0, 1, 3, 7, 15, 31, 63, *range(123, 1444, 60)],
    "1/1": list(range(30)),
    "2/2": list(range(0, 60, 2)),
    "4/4": list(range(0, 120, 4)),
    "1/4": [0, 1, 3, *range(7, 112, 4)],
    "10/10": list(range(0, 300, 10)),
    "1/10": [0, 1, 3, 7, 15, *range(25, 266, 10)],
    "10/11": [0, 10, *range(21, 319, 11)],
    "10/30": [0, 10, *range(30, 841, 30)],
    "1/30": [0, 1, 3, 7, 15, 31, *range(61, 752, 30)],
    "10/60": [0, 10, 30, *range(70, 1631, 60)],
    "10/100": [0, 10, 30, 70, *range(150, 2651, 100)],
    "1/300": [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, *range(811, 6512, 300)],
}

# Up to 30, 60, 300, 600, 1800, 3600 s: advertised and shipped.
COUNTS = {
    "10/300": [(2, 3), (2, 3), (4, 5), (5, 6), (9, 10), (15, 16)],
    "1/60": [(4, 5), (5, 6), (9, 10), (14, 15), (34, 35), (64, 65)],
    "1/300": [(4, 5), (5, 6), (8, 9), (9, 10), (13, 14), (19, 20)],
    "10/30": [(2, 3), (3, 4), (11, 12), (21, 22), (61, 62), (121, 122)],
    "1/1": [(30, 31), (60, 61), (300, 301), (600, 601), (1800, 1801), (3600, 3601)],
}


def seconds(curve: Curve, n: int) -> list[float]:
    return [restart.at_ns / SECOND for restart in restarts(curve, count=n)]


def pair(name: str) -> tuple[int, int]:
    initial, longest = name.split("/")
    return int(initial) * SECOND, int(longest) * SECOND


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_curve(name: str) -> None:
    assert seconds(Curve.parse(name), 30) == SHIPPED[name]
    assert [at / SECOND for at in shipped(*pair(name), 30)] == SHIPPED[name]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_advertised_curve_is_the_shipped_one_without_its_free_restart(name: str) -> None:
    curve = Curve.parse(name, first_free=False)
    assert seconds(curve, 29) == SHIPPED[name][1:]
    assert [restart.at_ns for restart in restarts(curve, count=30)] == advertised(*pair(name), 30)


@pytest.mark.parametrize("name", COUNTS)
def test_restarts_up_to_and_including_a_time(name: str) -> None:
    for window, (as_advertised, as_shipped) in zip((30, 60, 300, 600, 1800, 3600), COUNTS[name], strict=True):
        for first_free, expected in ((False, as_advertised), (True, as_shipped)):
            curve = Curve.parse(name, first_free=first_free)
            counted = load([Crowd(curve, 1)], window_ns=window * SECOND).restarts
            times = (shipped if first_free else advertised)(*pair(name), 4000)
            assert (counted, count(times, -1, window * SECOND)) == (expected, expected)


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("run", [0, 1, 10, 40])
def test_each_restart_comes_after_the_run_and_the_delay(name: str, run: int) -> None:
    from probelet.lab.backoff import Life

    life = Life(run_ns=run * SECOND)
    assert [r.at_ns for r in restarts(Curve.parse(name), life, count=30)] == shipped(*pair(name), 30, run * SECOND)
    honest = Curve.parse(name, first_free=False)
    assert [r.at_ns for r in restarts(honest, life, count=30)] == advertised(*pair(name), 30, run * SECOND)


def test_every_restart_has_its_exit_and_its_delay() -> None:
    from probelet.lab.backoff import Life

    found = restarts(Curve.parse("10/300"), Life(run_ns=5 * SECOND), count=4)
    assert [(r.n, r.finished_ns // SECOND, r.delay_ns // SECOND, r.at_ns // SECOND, r.late_ns) for r in found] == [
        (1, 5, 0, 5, 0),
        (2, 10, 10, 20, 0),
        (3, 25, 20, 45, 0),
        (4, 50, 40, 90, 0),
    ]
