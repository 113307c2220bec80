"""The bounds beside the simulator: nothing is outside, and a search over phases reaches each of them.

Each configuration is random, with its seed in the message. ``make fuzz`` plays 10,000 new ones: ``EXPLAIN_CASES`` of
them, from the seed ``EXPLAIN_SEED`` on.
"""

import os
from collections.abc import Callable
from random import Random

import pytest
from probelet.lab.explain import Bounds, Span, Timing, bounds
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.explain.played import Played, container, opted_timings, random_timings
from tests.unit.lab.explain.search import reached

CASES = int(os.environ.get("EXPLAIN_CASES", "200"))
FIRST = int(os.environ.get("EXPLAIN_SEED", "0"))
SLICES = 4
RELEASES = ("1.34", "1.35", "1.36", "1.37", "1.38")

Timings = dict[ProbeType, Timing]


def slices() -> list[range]:
    return [range(FIRST + first, FIRST + CASES, SLICES) for first in range(SLICES)]


def inside(span: Span | None, milliseconds: int | None, what: str) -> None:
    assert span is not None
    assert milliseconds is not None, f"{what}: never"
    assert span.earliest * 1000 <= milliseconds <= span.latest * 1000, f"{what}: {milliseconds} ms is outside {span}"


def lengths(rng: Random, timing: Timing) -> list[int]:
    """Attempts that are instant, as long as the timeout allows, or in between."""
    longest = timing.timeout * 1000 - 1
    return [rng.choice([0, longest, rng.randint(0, longest)]) for _ in range(10)]


def ticks(rng: Random, timings: Timings) -> dict[ProbeType, int]:
    return {probe_type: rng.randrange(1000 * timing.period) for probe_type, timing in timings.items()}


def never_succeeds(rng: Random, timings: Timings, found: dict[ProbeType, Bounds], release: str) -> None:
    killer: ProbeType = "startup" if "startup" in timings else "liveness"
    phases, cut, takes = ticks(rng, timings), rng.randrange(1000), lengths(rng, timings[killer])
    played = Played(timings, phases, cut, release, begin=lambda played: played.answer(killer, "failure", takes))
    killed = played.verdict(killer, "Failure")
    inside(found[killer].startup_budget, killed, f"{killer} budget")
    first = played.records().first_attempt(killer)
    inside(found[killer].first_probe, first, f"{killer} first probe")
    if killer == "startup":
        assert killed is not None
        inside(found[killer].to_kill, killed - rng.randint(0, first), "startup to_kill")


def lives(rng: Random, timings: Timings, found: dict[ProbeType, Bounds], release: str) -> None:
    """A container that is healthy from ``up`` to ``down``, and whose pod syncs now and then."""
    phases, cut = ticks(rng, timings), rng.randrange(1000)
    up = rng.choice([0, rng.randint(0, 40_000)])
    if "startup" in timings:
        up = min(up, found["startup"].first_probe.latest * 1000)
    takes = {probe_type: lengths(rng, timing) for probe_type, timing in timings.items()}

    def begin(played: Played) -> None:
        for probe_type in timings:
            played.answer(probe_type, "success" if probe_type == "liveness" else "failure", takes[probe_type])

    played = Played(timings, phases, cut, release, begin=begin)
    played.until(up)
    for probe_type, timing in timings.items():
        played.answer(probe_type, "success", lengths(rng, timing))
    if "startup" in timings and played.passed() is None:
        return  # The attempt that was under way at `up`, or one before it, was the one that kills.
    for moment in sorted(played.now + rng.randrange(30_000) for _ in range(rng.randint(0, 3))):
        played.until(moment)
        played.sync()
    sure = [bound.to_ready.latest for bound in found.values() if bound.to_ready is not None]
    sure += [bound.first_probe.latest + timings[probe_type].timeout for probe_type, bound in found.items()]
    down = max(played.now, up + 1000 * max(sure)) + rng.randrange(20_000)
    played.until(down)
    for probe_type, timing in timings.items():
        played.answer(probe_type, "failure", lengths(rng, timing))
    played.until(down + 200_000)
    seen = played.records()
    for probe_type, bound in found.items():
        inside(bound.first_probe, seen.first_attempt(probe_type), f"{probe_type} first probe")
    if "readiness" in found:
        ready, unready = seen.verdict("readiness", "Success", up), seen.verdict("readiness", "Failure", down)
        inside(found["readiness"].to_ready, None if ready is None else ready - up, "to_ready")
        inside(found["readiness"].to_unready, None if unready is None else unready - down, "to_unready")
    if "liveness" in found:
        killed = seen.verdict("liveness", "Failure", down)
        inside(found["liveness"].to_kill, None if killed is None else killed - down, "to_kill")


@pytest.mark.parametrize("choose", [random_timings, opted_timings], ids=["ordinary", "options"])
@pytest.mark.parametrize("seeds", slices(), ids=lambda seeds: f"from-{seeds.start}")
def test_nothing_in_the_simulator_is_outside_the_bounds(seeds: range, choose: Callable[[Random], Timings]) -> None:
    for seed in seeds:
        rng = Random(seed)
        timings, release = choose(rng), rng.choice(RELEASES)
        found = bounds(container(timings))
        try:
            if found.keys() & {"startup", "liveness"}:
                never_succeeds(rng, timings, found, release)
            lives(rng, timings, found, release)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {release}: {timings}") from error


def is_near(reached_ms: int, bound: int) -> bool:
    """Within 5 % of the bound, or within the 50 ms that 50 attempts lose to the simulator's millisecond."""
    return abs(reached_ms - 1000 * bound) <= 50 * bound + 50


@pytest.mark.parametrize("seeds", slices(), ids=lambda seeds: f"from-{seeds.start}")
def test_a_search_over_phases_reaches_each_bound(seeds: range) -> None:
    for seed in seeds:
        timings = random_timings(Random(seed))
        found = bounds(container(timings))
        for (probe_type, name), (least, most) in reached(timings).items():
            span = getattr(found[probe_type], name)
            where = f"seed {seed}, {probe_type} {name}: {span}, {timings}"
            assert least is not None, where
            assert most is not None, where
            assert is_near(least, span.earliest), f"{where}: reached {least} ms"
            assert is_near(most, span.latest), f"{where}: reached {most} ms"


def test_the_search_has_a_case_for_every_bound() -> None:
    timing = Timing(delay=0, period=10, timeout=1, failures=3, successes=1, patience=3)
    timings: Timings = {"liveness": timing, "readiness": timing, "startup": timing}
    spans = {
        (each, name)
        for each, found in bounds(container(timings)).items()
        for name, span in found._asdict().items()
        if span
    }
    assert reached(timings).keys() == spans - {("liveness", "startup_budget"), ("readiness", "startup_budget")}
