"""PL203: where it hits, the simulator never sees the pod unready before the kill; where the pod is unready first, it
does not hit."""

from probelet.lint.rules.liveness.pl203_liveness_faster_than_readiness import RULE

from tests.unit.lint.proofs.configurations import CASES, configurations, fails_from, hits


def test_a_container_with_the_finding_is_never_unready_before_its_kill() -> None:
    found = 0
    for rng, timings in configurations("liveness", "readiness"):
        if not hits(RULE, timings):
            continue
        found += 1
        play, down = fails_from(rng, timings)
        records = play.records()
        kill, unready = records.verdict("liveness", "Failure", down), records.verdict("readiness", "Failure", down)
        assert kill is not None, timings
        assert unready is None or kill <= unready, timings
    assert found > CASES / 50


def test_a_container_that_is_unready_first_has_no_finding() -> None:
    found = 0
    for rng, timings in configurations("liveness", "readiness"):
        play, down = fails_from(rng, timings)
        records = play.records()
        kill, unready = records.verdict("liveness", "Failure", down), records.verdict("readiness", "Failure", down)
        assert kill is not None
        if unready is not None and unready < kill:
            found += 1
            assert hits(RULE, timings) == [], timings
    assert found > CASES / 10
