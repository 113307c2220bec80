"""The judge of the waits before restarts, by ends of lives made by hand."""

from itertools import accumulate

import pytest

from tests.cluster.waits import explains, fits, possible


def ends(*gaps: float) -> list[float]:
    """Moments at which lives ended, by the seconds between them."""
    return list(accumulate(gaps, initial=100.0))


def test_a_short_life_waits_for_each_delay() -> None:
    assert possible("native", ends(5.5, 5.5, 15.5)) == [{0}, {0}, {10}, {20}]


def test_a_life_that_ends_later_after_the_one_before_than_the_delay_is_followed_at_once() -> None:
    assert possible("native", ends(6, 6, 20.0, 6)) == [{0}, {0}, {10}, {0}, {40}], "seen on a busy machine"
    assert possible("native", ends(29, 29, 29, 29)) == [{0}, {0}, {0}, {0}, {40}]


def test_so_near_to_the_delay_a_busy_kubelet_may_be_late_enough() -> None:
    assert possible("native", ends(6, 6, 19))[-1] == {0, 20}


def test_an_exit_that_the_kubelet_did_not_order_waits_for_the_whole_delay() -> None:
    assert possible("taken", ends(29, 43, 55)) == [{0}, {10}, {20}, {40}]


def test_an_end_that_the_kubelet_has_removed_is_not_counted() -> None:
    assert explains("native", ends(6, 6, 6), [0.3, 0.2, 0.3, 13.8]), "seen: removed right after the kill"
    assert explains("native", ends(6, 6, 16), [0.3, 0.2, 10.3, 20.8])
    assert not explains("native", ends(6, 6, 6), [0.3, 0.2, 0.3, 0.3]), "two at once are none by chance"
    assert not explains("taken", ends(6, 16, 26), [0.3, 0.2, 10.3, 20.3])


@pytest.mark.parametrize(
    ("wait", "delays", "is_one"),
    [
        (0.1, {0}, True),
        (0.1, {20}, False),
        (29.9, {20}, True),
        (37.0, {20}, False),
        (0.1, {0, 20}, True),
        (9, {0}, False),
    ],
)
def test_a_wait_is_up_to_half_longer_than_its_delay(wait: float, delays: set[int], is_one: bool) -> None:
    assert fits(wait, delays) is is_one
