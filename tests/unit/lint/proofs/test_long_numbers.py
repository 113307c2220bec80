"""PL404, PL418 and PL512: the seconds of their messages hold in the simulator, and the late cases do happen."""

import re
from dataclasses import replace

import pytest
from probelet.lint.registry import rules
from probelet.lint.rules.arithmetic import pl404_long_period as pl404
from probelet.lint.rules.arithmetic import pl418_timeout_of_many_periods as pl418
from probelet.spec.model.probe import ProbeType

from tests.unit.lint.proofs.configurations import CASES, configurations, hits, lengths, played
from tests.unit.lint.proofs.deployments import hits_of, plain, spans


@pytest.mark.parametrize(
    ("probe_type", "longest"), [("liveness", pl404.LONGEST_OF_LIVENESS), ("readiness", pl404.LONGEST)]
)
def test_with_a_long_period_the_first_attempt_comes_within_the_messages_span_and_may_use_most_of_it(
    probe_type: ProbeType, longest: int
) -> None:
    late = 0
    for rng, chosen in configurations(probe_type):
        timing = replace(chosen[probe_type], period=rng.randint(longest - 1, 4 * longest))
        timings = plain({probe_type: timing})
        found = hits(pl404.RULE, timings)
        assert bool(found) == (timing.period >= longest)
        if not found:
            continue
        first = spans(found[0].message)[0]
        play = played(rng, timings)
        play.answer(probe_type, "success", [0])
        play.until(1000 * (timing.delay + timing.period + 1))
        at = play.records().first_attempt(probe_type)
        assert first[0] <= at <= first[1], timings
        late += at > 1000 * (timing.delay + timing.period // 2)
    assert late > CASES / 5


@pytest.mark.parametrize("probe_type", ["liveness", "readiness"])
def test_a_hang_behind_a_timeout_of_many_periods_is_noticed_within_the_messages_seconds_and_far_behind_a_refusal(
    probe_type: ProbeType,
) -> None:
    found = late = 0
    for rng, chosen in configurations(probe_type):
        period = rng.randint(1, 3)
        timing = replace(chosen[probe_type], period=period, timeout=rng.randint(1, 2 * pl418.TIMES * period))
        timings = plain({probe_type: timing})
        messages = hits(pl418.RULE, timings)
        assert bool(messages) == (timing.timeout >= pl418.TIMES * timing.period)
        if not messages:
            continue
        found += 1
        said = re.search(r"only after up to (\d+) s\b.* refuses after .* = (\d+) s", messages[0].message)
        assert said is not None
        play = played(rng, timings)
        play.answer(probe_type, "success", [0])
        down = 200_000 + rng.randrange(20_000)
        play.until(down)
        play.answer(probe_type, "failure", [timing.timeout * 1000 - 1])
        verdict = play.verdict(probe_type, "Failure")
        assert verdict is not None
        assert verdict - down <= 1000 * int(said[1]), timings
        late += verdict - down > 3 * 1000 * int(said[2])
    assert found > CASES / 5
    assert late > found / 2


def test_a_server_that_fails_after_its_first_success_is_ready_until_min_ready_seconds_are_over() -> None:
    with_finding = caught = 0
    for rng, chosen in configurations("readiness"):
        timing = replace(plain(chosen)["readiness"], successes=1, delay=0)
        timings, wanted = {"readiness": timing}, rng.randint(1, 30)
        found = hits_of(rules()["PL512"], timings, spec={"minReadySeconds": wanted})
        play = played(rng, timings)
        play.answer("readiness", "success", [0])
        ready = play.verdict("readiness", "Success")
        assert ready is not None
        play.answer("readiness", "failure", lengths(rng, timing))
        unready = play.verdict("readiness", "Failure")
        assert unready is not None
        if found:
            with_finding += 1
            assert unready - ready > 1000 * wanted, (timings, wanted)
        elif wanted >= timing.period:
            caught += unready - ready <= 1000 * wanted
    assert with_finding > CASES / 10
    assert caught > CASES / 10
