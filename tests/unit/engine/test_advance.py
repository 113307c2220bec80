"""``Engine.advance`` puts the clocks forward: due timers fire at once, and a worker runs once for all its periods."""

import select

from probelet._rust import Engine, ExecEnd
from probelet.lab.bench.pods import facts, pod, uid

HOUR_NS = 3_600_000_000_000


def wait(engine: Engine) -> None:
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    poll.poll()


def test_putting_the_clocks_forward_fires_a_timer_and_moves_the_wall_clock(engine: Engine) -> None:
    wall_ms, deadline = engine.wall_ms(), engine.now() + HOUR_NS
    engine.arm(deadline, 7)
    engine.advance(HOUR_NS)
    wait(engine)
    assert engine.drain().timers == [7]
    assert engine.now() >= deadline
    assert engine.wall_ms() - wall_ms >= 3_599_000, "a machine may set its clock back a little"


def test_a_timer_that_was_set_before_fires_at_its_deadline(engine: Engine) -> None:
    """After half an hour the thread sleeps until the second deadline; the second call must wake it."""
    engine.arm(engine.now() + HOUR_NS, 7)
    engine.arm(engine.now() + HOUR_NS // 2, 6)
    for token in (6, 7):
        engine.advance(HOUR_NS // 2)
        wait(engine)
        assert engine.drain().timers == [token]


def test_a_worker_runs_once_for_all_skipped_periods(engine: Engine) -> None:
    engine.define_pod(pod(0, "exec", 1, 3600))
    engine.sync_pod(uid(0), facts(0, "127.0.0.1"))
    for _ in range(2):
        wait(engine)
        [run] = engine.drain().execs
        engine.finish_execs([ExecEnd.exit(run.run, 0, b"")])
        assert engine.drain().execs == []
        engine.advance(10 * HOUR_NS)
