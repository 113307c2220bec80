"""PL401: the verdict about a container that hangs comes as late as the message says, and not later."""

import re

from probelet.lint.rules.arithmetic import pl401_timeout_above_period as pl401

from tests.unit.lint.proofs.configurations import CASES, configurations, hits, played


def test_a_container_that_hangs_is_killed_in_the_time_of_the_message_and_may_need_longer_than_the_periods() -> None:
    late = found = 0
    for rng, timings in configurations("liveness"):
        timings = {"liveness": timings["liveness"]}
        timing, messages = timings["liveness"], hits(pl401.RULE, timings)
        later = timing.failures * (timing.timeout - timing.period) + timing.timeout
        assert bool(messages) == (timing.timeout > timing.period and later >= pl401.LATER)
        if not messages:
            continue
        found += 1
        latest = re.search(r"killed after up to (\d+) s", messages[0].message)
        assert latest is not None
        play = played(rng, timings)
        play.answer("liveness", "success", [0])
        down = 200_000 + rng.randrange(20_000)
        play.until(down)
        # A server that hangs: every attempt lasts until its timeout.
        play.answer("liveness", "failure", [timing.timeout * 1000 - 1])
        kill = play.verdict("liveness", "Failure")
        assert kill is not None
        assert kill - down <= 1000 * int(latest[1]), timings
        late += kill - down > 1000 * timing.failures * timing.period
    assert found > CASES / 10
    assert late > found / 2
