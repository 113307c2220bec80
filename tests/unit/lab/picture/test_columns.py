"""However much is merged, the worst survives, and nothing is drawn where nothing was."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from probelet.lab.picture.attempts import Attempt, attempts
from probelet.lab.picture.columns import STATES, ready_counts, runs, state_columns, steps, worst_points
from probelet.lab.picture.document import PodState, SeriesRow, SpanRow
from probelet.lab.picture.scale import Frame

from tests.unit.lab.picture.documents import pod, probe, spans

SECONDS = 1_000.0

frames = st.sampled_from([Frame(600, 50, 50, SECONDS, column) for column in (1.0, 4.0, 40.0)])
times = st.lists(st.integers(1, 999), min_size=0, max_size=60, unique=True).map(
    lambda found: [0.0, *(float(at) for at in sorted(found))]
)


@given(frames, times, st.data())
def test_the_worst_value_of_a_step_function_survives(frame: Frame, t: list[float], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.floats(0, 100), min_size=len(t), max_size=len(t)))
    merged = steps(frame, t, values, max)
    assert len(merged) == frame.columns
    assert max(merged) == max(values)
    for column, value in enumerate(merged):
        begin, end = SECONDS * column / frame.columns, SECONDS * (column + 1) / frame.columns
        inside = [v for v, at, to in zip(values, t, [*t[1:], SECONDS], strict=True) if at < end and to > begin]
        assert value >= max(inside)


@given(frames, times, st.data())
def test_a_span_leaves_a_mark_unless_a_worse_one_covers_it(frame: Frame, t: list[float], data: st.DataObject) -> None:
    states: list[PodState] = data.draw(st.lists(st.sampled_from(STATES), min_size=len(t), max_size=len(t)))  # type: ignore[arg-type]
    life: list[SpanRow] = spans(SECONDS, *zip(states, t, strict=True))
    columns = state_columns(frame, life)
    for span in life:
        middle = frame.first_column((span["from_seconds"] + span["to_seconds"]) / 2)
        assert columns[middle] >= STATES.index(span["state"])
    assert {*columns} <= {STATES.index(state) for state in states}


@given(st.lists(st.integers(0, 3), max_size=50))
def test_runs_are_the_columns_again(columns: list[int]) -> None:
    found = runs(columns)
    assert [value for first, last, value in found for _ in range(first, last)] == columns
    assert all(a[2] != b[2] and a[1] == b[0] for a, b in pairwise(found))


def test_a_second_of_loss_shows_in_a_day() -> None:
    frame = Frame(400, 52, 0, 86_400.0, 12.0)
    series: SeriesRow = {
        "t": [0.0, 40_000.0, 40_001.0],
        "offered": [300.0] * 3,
        "served": [300.0, 0.0, 300.0],
        "late": [0.0, 0.0, 10.0],
        "lost": [0.0, 300.0, 0.0],
        "endpoints": [3, 0, 3],
        "wanted": [3] * 3,
    }
    points = worst_points(frame, series)
    assert points.count(1) == 1
    assert points[0] == 0
    assert points[-1] == 2


def test_ready_pods_are_counted_at_every_change() -> None:
    pods = [
        pod("a", spans(10.0, ("starting", 0.0), ("ready", 2.0), ("unready", 5.0)), []),
        pod("b", spans(10.0, ("pending", 1.0), ("ready", 2.0)), []),
    ]
    assert ready_counts(pods) == ([0.0, 2.0, 5.0, 10.0], [0.0, 2.0, 1.0, 0.0])


def test_a_timeout_is_worse_than_a_refusal_and_a_slow_answer_worse_than_a_fast_one() -> None:
    rows = [
        (0.0, 0.1, "s", "ok"),
        (1.0, 0.9, "s", "ok"),
        (2.0, 0.5, "e", "cri"),
        (3.0, 0.2, "f", "status"),
        (4.0, 0.0, "f", "refused"),
        (5.0, 1.0, "t", "header_timeout"),
    ]
    found: list[Attempt] = attempts(probe("liveness", 1.0, 1.0, rows))
    assert sorted(found, key=lambda attempt: attempt.badness) == found
    assert [attempt.mark for attempt in found] == ["a1", "a1", "a5", "a3", "a4", "a2"]
