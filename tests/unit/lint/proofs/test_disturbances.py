"""PL103 and PL205: without the finding no short disturbance has consequences, with it a short one is enough."""

from dataclasses import replace
from random import Random

import pytest
from probelet.lab.explain import Timing
from probelet.lint.registry import rules
from probelet.lint.rules.liveness import pl205_liveness_intolerant as pl205
from probelet.lint.rules.readiness import pl103_readiness_hair_trigger as pl103
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.explain.played import Played
from tests.unit.lint.proofs.configurations import CASES, configurations, lengths, played
from tests.unit.lint.proofs.deployments import hits_of, plain

DOWN = 200_000

CLAIMS = pytest.mark.parametrize(
    ("rule", "probe_type", "shortest"),
    [("PL103", "readiness", 1000 * pl103.SHORTEST), ("PL205", "liveness", 1000 * pl205.SHORTEST)],
)


def disturbed(play: Played, rng: Random, probe_type: ProbeType, timing: Timing, down: int, length: int) -> int | None:
    """When the verdict of a disturbance comes: attempts that begin while it lasts fail, all others succeed."""
    play.answer(probe_type, "success", lengths(rng, timing))
    play.until(down)
    play.answer(probe_type, "failure", lengths(rng, timing))
    play.until(down + length)
    play.answer(probe_type, "success", lengths(rng, timing))
    play.until(down + length + 1000 * (timing.timeout + 1))
    return play.records().verdict(probe_type, "Failure", down)


@CLAIMS
def test_without_the_finding_no_disturbance_shorter_than_the_limit_has_a_consequence(
    rule: str, probe_type: ProbeType, shortest: int
) -> None:
    found = 0
    for rng, chosen in configurations(probe_type):
        # Random timings are mostly hasty: these are patient enough to have no finding now and then.
        timing = plain(chosen)[probe_type]
        timing = replace(timing, failures=timing.failures + 2, patience=timing.failures + 2)
        timings = {probe_type: timing}
        if hits_of(rules()[rule], timings, replicas=3):
            continue
        found += 1
        down, length = DOWN + rng.randrange(20_000), rng.choice([shortest - 1, rng.randrange(shortest)])
        assert disturbed(played(rng, timings), rng, probe_type, timing, down, length) is None, timings
    assert found > CASES / 10


@CLAIMS
def test_with_the_finding_a_disturbance_of_the_messages_seconds_has_a_consequence_in_some_phase(
    rule: str, probe_type: ProbeType, shortest: int
) -> None:
    found = 0
    for rng, chosen in configurations(probe_type):
        timing = plain(chosen)[probe_type]
        timing = replace(timing, delay=0, timeout=min(timing.timeout, timing.period))
        timings = {probe_type: timing}
        hits = hits_of(rules()[rule], timings, replicas=3)
        if not hits:
            continue
        found += 1
        length = 1000 * (timing.failures - 1) * timing.period
        if timing.failures > 1:
            seconds = hits[0].message.split("a disturbance of ")[1].split(" s")[0]
            assert length == 1000 * int(seconds)
        # The worst phase: the disturbance begins a millisecond before a tick, and ends one after its last.
        play = Played(timings, {probe_type: 0})
        if probe_type == "readiness":
            play.sync()
        down = DOWN - DOWN % (1000 * timing.period) - 1
        assert disturbed(play, rng, probe_type, timing, down, length + 2) is not None, timings
        if timing.failures >= pl205.FEWEST:
            assert length < shortest
    assert found > CASES / 10
