"""Ticks are round and few, places are inside, durations are readable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.lab.picture.scale import Frame, duration, tick_text, time_ticks, value_ticks


@given(st.floats(0.001, 1e9), st.integers(3, 20))
def test_there_are_few_ticks_and_they_cover_the_axis(seconds: float, count: int) -> None:
    ticks, step = time_ticks(seconds, count)
    assert len(ticks) <= count + 1
    assert ticks[0] == 0
    assert ticks[-1] <= seconds * 1.001
    assert seconds < ticks[-1] + step * 1.001
    labels = [tick_text(at, step, seconds) for at in ticks]
    assert len({*labels}) == len(labels)


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (30, ["0", "5 s", "10 s", "15 s", "20 s", "25 s", "30 s"]),
        (600, ["0", "2 min", "4 min", "6 min", "8 min", "10 min"]),
        (9_000, ["0", "0:30 h", "1:00 h", "1:30 h", "2:00 h", "2:30 h"]),
        (86_400, ["0", "6 h", "12 h", "18 h", "24 h"]),
        (604_800, ["0", "1 d", "2 d", "3 d", "4 d", "5 d", "6 d", "7 d"]),
    ],
)
def test_ticks_have_the_unit_of_the_axis(seconds: float, labels: list[str]) -> None:
    ticks, step = time_ticks(seconds, 7)
    assert [tick_text(at, step, seconds) for at in ticks] == labels


@given(st.floats(1e-3, 1e12))
def test_the_ticks_of_values_are_round(top: float) -> None:
    ticks = value_ticks(top, 5)
    assert 2 <= len(ticks) <= 6
    assert ticks[-1] <= top * 1.001
    assert f"{ticks[1]:e}"[0] in "125"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.05, "0.05 s"),
        (1, "1 s"),
        (8.25, "8.25 s"),
        (43.7, "43.7 s"),
        (60, "60 s"),
        (99.96, "100 s"),
        (312, "312 s"),
        (599.6, "10 min"),
        (845, "14 min 5 s"),
        (3_599.9, "1 h"),
        (18_720, "5 h 12 min"),
        (86_400, "1 d"),
        (273_600, "3 d 4 h"),
    ],
)
def test_a_duration_reads_as_people_write_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(st.floats(-1e6, 1e6), st.floats(0.001, 1e6), st.sampled_from([1.0, 3.0, 40.0]))
def test_a_moment_is_inside_the_frame(at: float, seconds: float, column: float) -> None:
    frame = Frame(1080, 150, 178, seconds, column)
    assert frame.left <= frame.x(at) <= frame.end
    assert 0 <= frame.first_column(at) < frame.columns
