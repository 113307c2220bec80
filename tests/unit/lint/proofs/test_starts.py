"""PL301, PL303 and PL305: which starts survive in every phase, which in some, and which in none."""

from collections.abc import Iterator
from random import Random

from probelet.lab.explain import Span, Timing, bounds
from probelet.lint.registry import rules
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.explain.played import container
from tests.unit.lint.proofs.configurations import CASES, configurations, lengths, played
from tests.unit.lint.proofs.deployments import hits_of, plain, spans, starts


def killed_by_one() -> Iterator[tuple[Random, ProbeType, dict[ProbeType, Timing], Span]]:
    """Containers with one probe that may kill them, and its budget."""
    for rng, chosen in configurations("liveness"):
        kind: ProbeType = rng.choice(["liveness", "startup"])
        timings = plain({kind: chosen["liveness"]})
        budget = bounds(container(timings))[kind].startup_budget
        assert budget is not None
        yield rng, kind, timings, budget


def test_of_pl301_pl303_and_pl305_exactly_one_speaks_about_a_start_without_a_margin() -> None:
    seen = set()
    for rng, _, timings, budget in killed_by_one():
        start = rng.uniform(0.1, 1.3 * budget.latest)
        found = [rule for rule in ("PL301", "PL303", "PL305") if hits_of(rules()[rule], timings, startup_seconds=start)]
        wanted = "PL305" if start > budget.latest else "PL301" if start > budget.earliest else "PL303"
        assert found == ([wanted] if 2 * start > budget.earliest else []), (timings, start)
        seen.update(found)
    assert seen == {"PL301", "PL303", "PL305"}


def test_pl305_a_container_with_the_finding_never_starts() -> None:
    for rng, kind, timings, budget in killed_by_one():
        start = budget.latest + rng.uniform(0.001, 30)
        (hit,) = hits_of(rules()["PL305"], timings, startup_seconds=start)
        play = played(rng, timings)
        play.answer(kind, "failure", lengths(rng, timings[kind]))
        play.until(int(1000 * start))
        killed = play.records().verdict(kind, "Failure", 0)
        assert killed is not None, timings
        span = spans(hit.message)[0]
        assert span[0] <= killed <= span[1], timings


def test_pl301_a_start_with_the_finding_survives_in_some_phase_and_not_in_another() -> None:
    survived = killed = 0
    for rng, kind, timings, budget in killed_by_one():
        start = rng.uniform(budget.earliest + 0.001, budget.latest)
        (hit,) = hits_of(rules()["PL301"], timings, startup_seconds=start)
        at = starts(rng, timings, int(1000 * start)).records().verdict(kind, "Failure", 0)
        if at is None:
            survived += 1
        else:
            killed += 1
            (span,) = spans(hit.message)
            assert span[0] <= at <= span[1], timings
    assert min(survived, killed) > CASES / 10


def test_a_start_without_pl301_and_pl305_survives_in_every_phase() -> None:
    for rng, kind, timings, budget in killed_by_one():
        if not budget.earliest:
            continue
        start = rng.choice([budget.earliest, rng.uniform(0.001, budget.earliest)])
        assert not hits_of(rules()["PL301"], timings, startup_seconds=start)
        assert not hits_of(rules()["PL305"], timings, startup_seconds=start)
        # The first attempt that does not fail begins with the moment itself.
        play = starts(rng, timings, int(1000 * start) - 1)
        play.until(1000 * (budget.latest + 100))
        assert play.records().verdict(kind, "Failure", 0) is None, (timings, start)


def test_pl307_and_pl303_name_the_seconds_of_a_container_that_does_not_answer() -> None:
    for rng, kind, timings, budget in killed_by_one():
        if kind != "liveness":
            continue
        (hit,) = hits_of(rules()["PL307"], timings, image="postgres:17")
        assert spans(hit.message) == [(1000 * budget.earliest, 1000 * budget.latest)]
        found = hits_of(rules()["PL303"], timings, image="registry.example/team/java-app:1")
        assert bool(found) == (budget.earliest < 60)
        play = played(rng, timings)
        play.answer(kind, "failure", lengths(rng, timings[kind]))
        killed = play.verdict(kind, "Failure")
        assert killed is not None
        assert 1000 * budget.earliest <= killed <= 1000 * budget.latest
        for each in found:
            assert f"{budget.earliest} s for its start" in each.message
            assert f"at most {budget.latest} s" in each.message
