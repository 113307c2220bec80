"""Timers on the engine's wheel: a timer fires once, and never after its cancellation."""

from probelet._rust import TimerWheel
from probelet.host.timers import NEVER_NS, Timers


class Wheel:
    """The extension's timer wheel with a clock that the test moves."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.wheel = TimerWheel()
        self.waiting: list[int] = []

    def now(self) -> int:
        return self.now_ns

    def wall_ms(self) -> int:
        return self.now_ns // 1_000_000

    def arm(self, deadline_ns: int, token: int) -> int:
        return self.wheel.arm(deadline_ns, token)

    def cancel(self, timer: int) -> bool:
        return self.wheel.cancel(timer)

    def when_journalled(self, token: int) -> None:
        self.waiting.append(token)


def test_callbacks_run_once_in_the_order_of_their_deadlines() -> None:
    wheel, fired = Wheel(), list[str]()
    timers = Timers(wheel)
    timers.arm(20, lambda: fired.append("late"))
    timers.arm(10, lambda: fired.append("early"))
    tokens = wheel.wheel.fire(30)
    for token in [*tokens, *tokens]:
        timers.fire(token)
    assert fired == ["early", "late"]


def test_a_cancelled_timer_does_not_fire_even_if_its_token_is_already_drained() -> None:
    wheel, fired = Wheel(), list[str]()
    timers = Timers(wheel)
    kept = timers.arm(10, lambda: fired.append("kept"))
    on_the_way = timers.arm(10, lambda: fired.append("on the way"))
    cancelled = timers.arm(10, lambda: fired.append("cancelled"))
    timers.cancel(cancelled)
    tokens = wheel.wheel.fire(10)
    assert len(tokens) == 2
    timers.cancel(on_the_way)
    for token in tokens:
        timers.fire(token)
    timers.cancel(kept)
    assert fired == ["kept"]
    assert len(wheel.wheel) == 0


def test_a_deadline_beyond_the_wheel_is_never_due_and_can_be_cancelled() -> None:
    wheel, fired = Wheel(), list[str]()
    timers = Timers(wheel)
    never = timers.arm((2**63 - 1) * 1_000_000_000, lambda: fired.append("never"))
    timers.arm(10, lambda: fired.append("soon"))
    for token in wheel.wheel.fire(NEVER_NS - 1):
        timers.fire(token)
    assert fired == ["soon"]
    timers.cancel(never)
    assert wheel.wheel.fire(NEVER_NS) == []
