import pytest
from probelet.lab.backoff import REDUCED, TODAY, Crowd, Life, load

from tests.unit.lab.backoff.naive import SECOND, count, shipped


def test_a_node_of_pods_that_crash_together_is_a_multiple_of_one() -> None:
    found = load([Crowd(REDUCED, 110)], window_ns=300 * SECOND, slot_ns=10 * SECOND)
    times = shipped(SECOND, 60 * SECOND, 40)
    slots = [count(times, 10 * n * SECOND if n else -1, 10 * (n + 1) * SECOND) for n in range(30)]
    assert found.slots == [110 * slot for slot in slots]
    assert found.restarts == sum(found.slots) == 1100
    assert found.peak_per_second == 110 * 4 / 10
    assert found.per_second == 1100 / 300


def test_spread_shifts_each_containers_restarts() -> None:
    found = load([Crowd(TODAY, 4, spread_ns=40 * SECOND)], window_ns=60 * SECOND, slot_ns=10 * SECOND)
    lives = [[at + 10 * n * SECOND for at in shipped(10 * SECOND, 300 * SECOND, 5)] for n in range(4)]
    every = [at for life in lives for at in life]
    assert found.slots == [count(every, 10 * n * SECOND if n else -1, 10 * (n + 1) * SECOND) for n in range(6)]


def test_successful_containers_restart_under_always_but_not_under_on_failure() -> None:
    def restarts(policy: str) -> int:
        crowds = [Crowd(REDUCED, 55, Life(exit_code=code, policy=policy)) for code in (0, 1)]  # type: ignore[arg-type]
        return load(crowds, window_ns=300 * SECOND).restarts

    assert (restarts("Always"), restarts("OnFailure")) == (1100, 550)


def test_each_container_draws_its_own_random_numbers() -> None:
    life = Life(0, 30 * SECOND)
    one = load([Crowd(TODAY, 1, life)], window_ns=3600 * SECOND)
    many = load([Crowd(TODAY, 50, life)], window_ns=3600 * SECOND)
    assert many.slots != [50 * slot for slot in one.slots]
    assert many.slots == load([Crowd(TODAY, 50, life)], window_ns=3600 * SECOND).slots
    assert many.slots != load([Crowd(TODAY, 50, life)], window_ns=3600 * SECOND, seed=1).slots


@pytest.mark.parametrize(
    ("window", "slot", "message"),
    [
        (0, 1, "the window and its slots must be longer than 0s"),
        (1, 0, "the window and its slots must be longer than 0s"),
        (1_000_001, 1, "1.000001ms: must be at most 1ms, 1,000,000 slots of 1ns"),
        (10**9, 1, "1s: must be at most 1ms, 1,000,000 slots of 1ns"),
    ],
)
def test_a_window_that_cannot_be_counted_is_refused(window: int, slot: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load([Crowd(TODAY, 1)], window_ns=window, slot_ns=slot)


def test_a_window_of_a_million_slots_can_be_counted() -> None:
    assert len(load([Crowd(TODAY, 1)], window_ns=1_000_000, slot_ns=1).slots) == 1_000_000
