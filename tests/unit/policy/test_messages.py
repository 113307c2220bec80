"""Messages write durations as Go does."""

import pytest
from probelet.policy.messages import back_off_waiting, go_duration


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0s"),
        (25_000_000, "25ms"),
        (1_500_000, "1.5ms"),
        (2_500, "2.5µs"),
        (1, "1ns"),
        (1_000_000_000, "1s"),
        (1_500_000_000, "1.5s"),
        (9_999_000_000, "9.999s"),
        (10_000_000_000, "10s"),
        (60_000_000_000, "1m0s"),
        (80_000_000_000, "1m20s"),
        (300_000_000_000, "5m0s"),
        (3_600_000_000_000, "1h0m0s"),
        (5_025_500_000_000, "1h23m45.5s"),
    ],
)
def test_a_delay_is_written_as_go_writes_it(ns: int, text: str) -> None:
    assert go_duration(ns) == text


def test_the_waiting_message_shows_the_whole_delay() -> None:
    message = back_off_waiting(80_000_000_000, "app", "web_default(u1)")
    assert message == "back-off 1m20s restarting failed container=app pod=web_default(u1)"
