"""A rise is found where there is one, seldom where there is none, and one odd value changes little."""

import random

import pytest
from probelet.lint.observed.trend import rising


def test_a_line_is_found_exactly() -> None:
    trend = rising([(float(x), 3 + 0.5 * x) for x in range(10)])
    assert trend is not None
    assert (trend.slope, trend.latest) == (pytest.approx(0.5), pytest.approx(7.5))


def test_one_wild_value_does_not_change_the_slope() -> None:
    points = [(float(x), 3 + 0.5 * x) for x in range(12)]
    points[4] = (4.0, 500.0)
    trend = rising(points)
    assert trend is not None
    assert trend.slope == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("points", [[(0.0, 1.0)] * 20, [(float(x), 7.0) for x in range(20)], []])
def test_nothing_rises_without_differences(points: list[tuple[float, float]]) -> None:
    assert rising(points) is None


def test_chance_alone_seldom_looks_like_a_rise() -> None:
    random_ = random.Random(5)
    found = sum(rising([(float(x), random_.random()) for x in range(12)]) is not None for _ in range(2000))
    assert 0.02 < found / 2000 < 0.065
