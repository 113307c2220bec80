"""How late the event loop was while exec attempts were in flight, and whose fault their timeouts are then."""

import asyncio

import pytest
from probelet.cri.exec import ExecOutcome
from probelet.execs.overdue import BEAT_SECONDS, Overdue, judged


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_what_goes_by_between_two_turns_beyond_a_beat_is_overdue() -> None:
    clock = Clock()
    overdue = Overdue(clock)
    clock.now += 9
    assert overdue.begin(clock.now) == 0, "nobody needed the loop before"
    clock.now += BEAT_SECONDS / 2
    assert overdue.total(clock.now) == 0
    clock.now += BEAT_SECONDS / 2 + 3
    assert overdue.total(clock.now) == pytest.approx(3), "seen before the late turn, by whoever turns first"
    overdue.end(clock.now)
    clock.now += 9
    assert overdue.total(clock.now) == pytest.approx(3)


async def test_a_loop_that_turns_is_looked_at_again_and_again_until_the_last_one_has_ended() -> None:
    clock = Clock()
    overdue = Overdue(clock)
    overdue.begin(clock.now)
    overdue.begin(clock.now)
    overdue.end(clock.now)
    loop = asyncio.get_running_loop()
    turned = asyncio.Event()
    # On the loop's clock no time is judged here: only that the beat comes, and forgives what lies before it.
    clock.now += 5
    loop.call_later(3 * BEAT_SECONDS, turned.set)
    await turned.wait()
    assert overdue.total(clock.now) == pytest.approx(5 - BEAT_SECONDS)
    clock.now += BEAT_SECONDS
    assert overdue.total(clock.now) == pytest.approx(5 - BEAT_SECONDS)
    overdue.end(clock.now)


@pytest.mark.parametrize(
    ("kind", "spent", "overdue", "expected"),
    [
        ("timeout", 3.0, 1.6, "starved"),
        ("timeout", 3.0, 1.5, "timeout"),
        # Told by the runtime, on its own clock.
        ("timeout", 2.9, 2.5, "timeout"),
        # An answer is the command's, however late it was read.
        ("exit", 9.0, 8.0, "exit"),
        ("error", 9.0, 8.0, "error"),
    ],
)
def test_only_a_timeout_that_we_find_ourselves_may_be_our_own(
    kind: str, spent: float, overdue: float, expected: str
) -> None:
    outcome = ExecOutcome(kind, 0, b"said")  # type: ignore[arg-type]
    found = judged(outcome, patience=3.0, spent=spent, overdue=overdue, share=0.5)
    assert (found.kind, found.output) == (expected, b"said")
