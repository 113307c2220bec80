"""PL302, PL304 and PL308: after the fix every start survives that survived before, and a hang is found as soon."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from probelet.lab.explain import Timing, bounds
from probelet.lint.change import Change, Fix, Remove, Set
from probelet.lint.registry import rules
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.explain.played import Played, container
from tests.unit.lint.proofs.configurations import CASES, Timings, configurations, lengths, played
from tests.unit.lint.proofs.deployments import hits_of, plain, spans, starts

FIELDS: Mapping[str, str] = {
    "initialDelaySeconds": "delay",
    "periodSeconds": "period",
    "timeoutSeconds": "timeout",
    "failureThreshold": "failures",
}


def changed(timings: Timings, fix: Fix) -> dict[ProbeType, Timing]:
    """The timings after a fix."""
    found = dict(timings)
    for change in fix.changes:
        _apply(found, change)
    return plain(found)


def _apply(timings: dict[ProbeType, Timing], change: Change) -> None:
    name, _, field = change.path.partition("containers[0].")[2].partition(".")
    probe_type: ProbeType = next(each for each in ("liveness", "readiness", "startup") if name == f"{each}Probe")
    if isinstance(change, Remove):
        timings[probe_type] = replace(timings[probe_type], **{FIELDS[field]: 0})
    elif isinstance(change, Set) and field:
        timings[probe_type] = replace(timings[probe_type], **{FIELDS[field]: change.value})
    elif isinstance(change, Set) and isinstance(change.value, dict):
        written: dict[str, Any] = {FIELDS[key]: value for key, value in change.value.items() if key in FIELDS}
        timings[probe_type] = Timing(**{**DEFAULTS, **written})


DEFAULTS = {"delay": 0, "period": 10, "timeout": 1, "failures": 3, "successes": 1, "patience": 3}


def killed_at_start(rng: Random, timings: Timings, start: int) -> bool:
    """True if a container that answers from ``start`` milliseconds on is killed before."""
    kind: ProbeType = "startup" if "startup" in timings else "liveness"
    play = starts(rng, timings, start)
    play.verdict(kind, "Success")
    return play.records().verdict(kind, "Failure", 0) is not None


def delayed() -> Iterator[tuple[Random, dict[ProbeType, Timing], Fix]]:
    """Containers with a long delay, and what PL302 makes of them."""
    for rng, chosen in configurations("liveness"):
        timing = plain(chosen)["liveness"]
        timing = replace(timing, period=min(timing.period, 30), delay=rng.randint(60, 90))
        timings: dict[ProbeType, Timing] = {"liveness": timing}
        (hit,) = hits_of(rules()["PL302"], timings)
        assert hit.fix is not None
        assert hit.fix.is_safe
        yield rng, timings, hit.fix


def test_pl302_every_start_that_survived_survives_and_a_container_that_hangs_later_is_killed_as_soon() -> None:
    survived = 0
    for rng, timings, fix in delayed():
        after, budget = changed(timings, fix), bounds(container(timings))["liveness"].startup_budget
        assert budget is not None
        assert not hits_of(rules()["PL302"], after)
        again = bounds(container(after))["liveness"].startup_budget
        assert again is not None
        assert again.earliest >= budget.latest, timings
        start = rng.randrange(1000 * budget.latest)
        if killed_at_start(rng, timings, start):
            continue
        survived += 1
        assert not killed_at_start(rng, after, start), (timings, start)
        assert bounds(container(after))["liveness"].to_kill == bounds(container(timings))["liveness"].to_kill
    assert survived > CASES / 3


def test_pl302_names_when_liveness_begins_and_which_start_may_be_killed() -> None:
    for rng, timings, _ in delayed():
        (hit,) = hits_of(rules()["PL302"], timings)
        play = played(rng, timings)
        play.answer("liveness", "failure", lengths(rng, timings["liveness"]))
        killed = play.verdict("liveness", "Failure")
        first = play.records().first_attempt("liveness")
        (span,) = spans(hit.message)
        assert span[0] <= first <= span[1]
        sure = int(hit.message.split("a start of more than ")[1].split(" s")[0])
        assert killed is not None
        assert killed >= 1000 * sure, timings


def test_pl304_a_container_that_is_up_waits_for_the_next_attempt_and_the_fix_keeps_every_start() -> None:
    fixed = 0
    for rng, chosen in configurations("liveness"):
        timing = replace(plain(chosen)["liveness"], period=rng.randint(11, 60), failures=rng.randint(2, 6))
        timings = plain({"startup": timing})
        (hit,) = hits_of(rules()["PL304"], timings)
        budget = bounds(container(timings))["startup"].startup_budget
        assert budget is not None
        start = rng.randint(1000 * (timing.delay + timing.period), 1000 * budget.latest)
        play = starts(rng, timings, start)
        passed = play.verdict("startup", "Success")
        if passed is None:
            continue
        wait = int(hit.message.split("waits up to ")[1].split(" s")[0])
        assert passed - start <= 1000 * wait, timings
        if hit.fix is not None:
            fixed += 1
            after = changed(timings, hit.fix)
            assert not hits_of(rules()["PL304"], after)
            assert not killed_at_start(rng, after, start), (timings, start)
    assert fixed > CASES / 10


def test_pl308_a_delay_that_the_finding_calls_dead_changes_nothing_at_all() -> None:
    dead = 0
    for rng, chosen in configurations("liveness", "readiness"):
        startup = replace(plain(chosen)["liveness"], delay=rng.randint(0, 40), failures=rng.randint(1, 5))
        timings: dict[ProbeType, Timing] = plain({**chosen, "startup": startup})
        fixes = [hit.fix for hit in hits_of(rules()["PL308"], timings) if hit.fix is not None]
        after = dict(timings)
        for fix in (each for each in fixes if each.is_safe):
            after = changed(after, fix)
        if after == timings:
            continue
        dead += 1
        seed = rng.random()
        assert _life(Random(seed), timings) == _life(Random(seed), after), timings
    assert dead > CASES / 10


def _life(rng: Random, timings: Timings) -> list[dict[str, Any]]:
    """What a container does that starts, is ready and hangs at moments that ``rng`` chooses."""
    play: Played = starts(rng, timings, rng.choice([0, rng.randrange(60_000)]))
    play.passed()
    play.until(200_000)
    for probe_type, timing in timings.items():
        play.answer(probe_type, "failure", lengths(rng, timing))
    play.until(300_000)
    found: list[dict[str, Any]] = json.loads(play.sim.take_records())
    return found
