"""Drift with a known truth, and none in noise."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.policy.drift import SAMPLES_MIN, compare, percentile

BUDGET = 50.0


def noise(seed: int, count: int, *, typical: float = 30.0, spread: float = 0.15) -> list[float]:
    chance = random.Random(seed)
    return [chance.lognormvariate(0, spread) * typical for _ in range(count)]


def test_a_rise_towards_the_budget_is_found() -> None:
    found = compare(noise(1, 40, typical=24), noise(2, 40, typical=36), BUDGET)
    assert found is not None
    assert (found.limit, found.before < found.after) == (BUDGET, True)


@pytest.mark.parametrize(
    ("before", "after", "budget"),
    [
        (noise(1, SAMPLES_MIN - 1, typical=10), noise(2, 40, typical=40), BUDGET),
        (noise(1, 40, typical=10), noise(2, SAMPLES_MIN - 1, typical=40), BUDGET),
        ([], [], BUDGET),
        ([31.0] * 20, [31.0] * 20, BUDGET),
        (noise(1, 40, typical=40), noise(2, 40, typical=20), BUDGET),
        (noise(1, 40, typical=1), noise(2, 40, typical=5), BUDGET),
        ([30.0] * 40, [*([30.0] * 39), 49.0], BUDGET),
    ],
    ids=["few before", "few after", "none", "all equal", "faster", "far from the budget", "one odd start"],
)
def test_no_drift(before: list[float], after: list[float], budget: float) -> None:
    assert compare(before, after, budget) is None


def test_noise_is_no_drift() -> None:
    # One in a thousand may pass the test of the ranks; the rise of the percentile rules out most of these.
    found = 0
    for seed in range(3_000):
        chance = random.Random(seed)
        spread = chance.uniform(0.01, 1.0)
        sizes = chance.randint(SAMPLES_MIN, 64), chance.randint(SAMPLES_MIN, 64)
        before, after = (noise(2 * seed + side, size, spread=spread) for side, size in enumerate(sizes))
        found += compare(before, after, BUDGET) is not None
    assert found <= 6


def test_most_rises_by_half_are_found_with_twenty_starts() -> None:
    found = [compare(noise(seed, 20, typical=25), noise(seed + 500, 20, typical=37.5), BUDGET) for seed in range(200)]
    assert sum(each is not None for each in found) >= 190


values = st.lists(st.floats(0.1, 1_000, allow_nan=False), min_size=SAMPLES_MIN, max_size=30)


@given(values, st.randoms(use_true_random=False))
def test_the_same_values_in_another_order_are_no_drift(found: list[float], chance: random.Random) -> None:
    other = found.copy()
    chance.shuffle(other)
    assert compare(found, other, 0.1) is None


@given(values, values)
def test_a_drift_in_one_direction_is_none_in_the_other(one: list[float], other: list[float]) -> None:
    assert compare(one, other, 0.1) is None or compare(other, one, 0.1) is None


def test_the_percentile_of_a_few_is_the_largest() -> None:
    assert percentile([3.0, 1.0, 2.0]) == 3.0
    assert percentile([float(value) for value in range(1, 201)]) == 198.0
