"""Containers that run for a while, that a sync loop restarts, or that end for good."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.lab.backoff import TODAY, Curve, CurveError, Life, restarts
from probelet.lab.backoff.curve import seconds_text

from tests.unit.lab.backoff.naive import SECOND, by_kubelet, shipped


def waits(run: float, n: int) -> list[float]:
    life = Life(run_ns=int(run * SECOND))
    return [restart.delay_ns / SECOND for restart in restarts(TODAY, life, count=n)]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (0, [0, 10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300]),
        (299, [0, 10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300]),
        (300, [0, 10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300]),
        (301, [0, 10, 20, 40, 80, 160, 300, 10, 20, 40, 80, 160]),
        (599, [0] + [10] * 11),
        (600, [0] + [10] * 11),
        (600.000000001, [0] * 12),
        (601, [0] * 12),
    ],
)
def test_a_long_life_resets_the_delay(run: float, expected: list[float]) -> None:
    assert waits(run, 12) == expected


spans = st.integers(1, 400).map(lambda n: n * SECOND)


@given(initial=spans, longest=spans, run=st.integers(0, 700 * SECOND))
def test_any_curve_agrees_with_the_naive_table(initial: int, longest: int, run: int) -> None:
    found = restarts(Curve(initial, longest), Life(run_ns=run), count=20)
    assert [restart.at_ns for restart in found] == shipped(initial, longest, 20, run)


@given(initial=spans, longest=spans, run=st.integers(0, 700 * SECOND), seed=st.integers(0, 2**64 - 1))
def test_the_kubelets_sync_loop_agrees_with_the_naive_one_draw_by_draw(
    initial: int, longest: int, run: int, seed: int
) -> None:
    found = restarts(Curve(initial, longest), Life(run_ns=run, scheduler="kubelet"), count=20, seed=seed)
    assert [restart.at_ns for restart in found] == by_kubelet(initial, longest, 20, run, seed)


def test_the_kubelet_is_late_and_never_early_on_a_container_that_crashes_at_once() -> None:
    found = restarts(TODAY, Life(scheduler="kubelet"), count=200, seed=1)
    assert min(restart.late_ns for restart in found) == 0
    assert 0 < max(restart.late_ns for restart in found) <= 30 * SECOND


def test_housekeeping_ends_a_long_wait_in_the_kubelet() -> None:
    # It runs 400 s and waits 300 s: after 600 s the entry is gone, and the next sync starts the container at once.
    found = restarts(TODAY, Life(run_ns=400 * SECOND, scheduler="kubelet"), count=40, seed=1)
    assert min(restart.late_ns for restart in found) < 0


def test_a_range_of_run_times_is_drawn_from_evenly() -> None:
    found = restarts(TODAY, Life(5 * SECOND, 15 * SECOND), count=2000, seed=1)
    starts = [0, *(restart.at_ns for restart in found)]
    runs = [restart.finished_ns - start for start, restart in zip(starts, found, strict=False)]
    assert 5 * SECOND <= min(runs) < 5.1 * SECOND
    assert 14.9 * SECOND < max(runs) <= 15 * SECOND
    assert abs(sum(runs) / len(runs) - 10 * SECOND) < 0.3 * SECOND


def test_equal_seeds_give_equal_restarts() -> None:
    jittery = Curve.parse("10/300", jitter=0.1)
    one, again, other = (restarts(jittery, count=8, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


def test_jitter_adds_at_most_its_share_of_the_previous_delay() -> None:
    before = None
    for restart in restarts(Curve.parse("100ms/60s", jitter=0.1), count=12, seed=3)[1:]:
        if before is not None and restart.delay_ns < 60 * SECOND:
            assert 2 * before <= restart.delay_ns <= 2.1 * before
        before = restart.delay_ns
    assert before == 60 * SECOND


@pytest.mark.parametrize(
    ("policy", "exit_code", "restarted"), [("Always", 0, 3), ("OnFailure", 1, 3), ("OnFailure", 0, 0), ("Never", 1, 0)]
)
def test_the_restart_policy_decides_first(policy: str, exit_code: int, restarted: int) -> None:
    life = Life(exit_code=exit_code, policy=policy)  # type: ignore[arg-type]
    assert len(restarts(TODAY, life, count=3)) == restarted


def test_other_factors_are_exact() -> None:
    delays = [restart.delay_ns for restart in restarts(Curve.parse("1s/10s", factor=1.5), count=9)][1:]
    assert delays == [10**9 * 3**n // 2**n for n in range(6)] + [10 * SECOND] * 2


def test_no_restart_is_later_than_the_limit() -> None:
    assert [r.at_ns for r in restarts(TODAY, count=100, until_ns=30 * SECOND)] == [0, 10 * SECOND, 30 * SECOND]


def test_an_initial_delay_longer_than_the_max_counts_as_the_max() -> None:
    assert Curve.parse("10s/4s") == Curve.parse("4/4")


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("10", {}, '"10" is not a curve; want INITIAL/MAX, for example 10s/5m or 1/60'),
        ("a/b", {}, '"a/b" is not a curve; want INITIAL/MAX, for example 10s/5m or 1/60'),
        ("-1s/60", {}, "-1s/60: initial -1s: must be between 1ms and 8760h"),
        ("1/0", {}, "1/0: max 0s: must be between 1ms and 8760h"),
        ("1/60", {"factor": 0.5}, "1/60: factor 0.5: must be between 1 and 1000"),
        ("1/60", {"factor": float("nan")}, "1/60: factor nan: must be between 1 and 1000"),
        ("1/60", {"jitter": 2}, "1/60: jitter 2: must be between 0 and 1"),
        ("1/60", {"jitter": -0.1}, "1/60: jitter -0.1: must be between 0 and 1"),
        ("1/8761h", {}, "1/8761h: max 8761h0m0s: must be between 1ms and 8760h"),
        ("1/60", {"reset_ns": 0}, "1/60: reset 0s: must be at least 1s"),
    ],
)
def test_an_invalid_curve_is_one_line(text: str, fields: dict[str, float], message: str) -> None:
    with pytest.raises(CurveError) as refused:
        Curve.parse(text, **fields)
    assert str(refused.value) == message


def test_the_bounds_of_a_curve_are_inside() -> None:
    curve = Curve.parse("1ms/8760h", factor=1, jitter=1, reset_ns=SECOND)
    assert (curve.initial_ns, curve.max_ns) == (SECOND // 1000, 8760 * 3600 * SECOND)
    assert Curve.parse("1/60", factor=1000, jitter=0).jitter == 0


def test_spans_are_written_in_seconds_from_one_second_on() -> None:
    assert [seconds_text(each) for each in (SECOND // 4, SECOND - 1, SECOND, 3 * SECOND // 2, 300 * SECOND)] == [
        "250ms",
        "999.999999ms",
        "1s",
        "1.5s",
        "300s",
    ]
