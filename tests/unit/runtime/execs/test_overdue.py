"""How late the event loop was while exec attempts were in flight, and whether it is to blame for their timeouts."""

import asyncio

import pytest
from probelet.runtime.cri.exec import ExecOutcome
from probelet.runtime.execs.overdue import BEAT_SECONDS, Overdue, judged


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_time_beyond_a_beat_between_two_turns_is_overdue() -> None:
    clock = Clock()
    overdue = Overdue(clock)
    clock.now += 9
    assert overdue.begin(clock.now) == 0, "no attempt needed the loop before"
    clock.now += BEAT_SECONDS / 2
    assert overdue.total(clock.now) == 0
    clock.now += BEAT_SECONDS / 2 + 3
    assert overdue.total(clock.now) == pytest.approx(3), "the total counts it before the late turn has come"
    overdue.end(clock.now)
    clock.now += 9
    assert overdue.total(clock.now) == pytest.approx(3)


async def test_the_beat_goes_on_until_the_last_attempt_has_ended() -> None:
    clock = Clock()
    overdue = Overdue(clock)
    overdue.begin(clock.now)
    overdue.begin(clock.now)
    overdue.end(clock.now)
    loop = asyncio.get_running_loop()
    turned = asyncio.Event()
    # The test judges no time of the loop's clock, only that the beat comes and adds up what was overdue before it.
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
        # The runtime reported it, on its own clock.
        ("timeout", 2.9, 2.5, "timeout"),
        # An answer is the command's, however late it was read.
        ("exit", 9.0, 8.0, "exit"),
        ("error", 9.0, 8.0, "error"),
    ],
)
def test_only_a_timeout_that_probelet_finds_itself_may_be_starved(
    kind: str, spent: float, overdue: float, expected: str
) -> None:
    outcome = ExecOutcome(kind, 0, b"said")  # type: ignore[arg-type]
    found = judged(outcome, patience=3.0, spent=spent, overdue=overdue, share=0.5)
    assert (found.kind, found.output) == (expected, b"said")
