"""The clocks of an engine can be put forward: what was due meanwhile comes at once, and a worker's run once."""

import select

from probelet._rust import Engine
from probelet.bench.pods import facts, pod, uid

HOUR_NS = 3_600_000_000_000


def wait(engine: Engine) -> None:
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    poll.poll()


def test_a_timer_that_was_an_hour_away_is_due_and_the_wall_clock_goes_along(engine: Engine) -> None:
    wall_ms, deadline = engine.wall_ms(), engine.now() + HOUR_NS
    engine.arm(deadline, 7)
    engine.advance(HOUR_NS)
    wait(engine)
    assert engine.drain().timers == [7]
    assert engine.now() >= deadline
    assert engine.wall_ms() - wall_ms >= 3_599_000, "a machine may set its clock back a little"


def test_a_timer_that_was_set_already_rings_when_its_time_has_come(engine: Engine) -> None:
    """Short of the deadline first: the thread sleeps for what is left of the hour, and is woken from that."""
    engine.arm(engine.now() + HOUR_NS, 7)
    engine.arm(engine.now() + HOUR_NS // 2, 6)
    for token in (6, 7):
        engine.advance(HOUR_NS // 2)
        wait(engine)
        assert engine.drain().timers == [token]


def test_a_worker_runs_once_however_many_periods_have_passed(engine: Engine) -> None:
    engine.define_pod(pod(0, "exec", 1, 3600))
    engine.sync_pod(uid(0), facts(0, "127.0.0.1"))
    for _ in range(2):
        wait(engine)
        [run] = engine.drain().execs
        engine.finish_execs([(run.run, "exit", 0, b"")])
        assert engine.drain().execs == []
        engine.advance(10 * HOUR_NS)
