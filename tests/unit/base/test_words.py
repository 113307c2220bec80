"""Times and numbers for people."""

import pytest
from probelet.base.words import count, seconds, share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (0.0004, "1 ms"),
        (0.04, "40 ms"),
        (0.0995, "0.1 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (83.2, "83 s"),
        (599.4, "599 s"),
        (600, "10 min"),
        (7_199, "120 min"),
        (7_200, "2 h"),
        (7_500, "2 h 5 min"),
        (86_400, "1 d"),
        (529_200, "6 d 3 h"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


def test_count_and_share() -> None:
    assert [count(1, "time"), count(1_200, "time")] == ["1 time", "1,200 times"]
    assert [share(0, 0), share(1, 3), share(1, 300), share(0, 5)] == ["0 %", "33 %", "0.33 %", "0 %"]
