"""Which attempts of a probe stay in the document."""

from hypothesis import given
from hypothesis import strategies as st
from probelet.lab.simulate.rows.attempts import chosen
from probelet.virtual.cluster import Attempt

outcomes = st.lists(st.sampled_from(["success"] * 6 + ["failure", "timeout"]), max_size=300)


def attempts(found: list[str]) -> list[Attempt]:
    return [Attempt(float(at), 0.1, outcome, "ok", "") for at, outcome in enumerate(found)]  # type: ignore[arg-type]


@given(outcomes, st.integers(1, 100))
def test_as_many_as_there_is_room_for_and_failures_before_successes(found: list[str], most: int) -> None:
    kept = chosen(attempts(found), most)
    assert kept == sorted(set(kept))
    assert len(kept) == min(len(found), most)
    failures = {index for index, outcome in enumerate(found) if outcome != "success"}
    changes = {
        index
        for index in range(len(found))
        if any(0 <= other < len(found) and found[other] != found[index] for other in (index - 1, index + 1))
    }
    if len(failures | changes) <= most:
        assert failures | changes <= set(kept)


def test_of_successes_every_nth_stays() -> None:
    assert chosen(attempts(["success"] * 100), 4) == [0, 25, 50, 75]
