"""PL102 and PL204: a server that answers well, but later than the probe waits, loses its pod; others never do."""

from collections.abc import Callable

import pytest
from probelet.lint.registry import rules
from probelet.lint.settings import Settings
from probelet.spec.model.probe import ProbeType

from tests.unit.lint.proofs.configurations import CASES, configurations, played
from tests.unit.lint.proofs.deployments import answers_after, hits_of, plain, spans

Say = Callable[[int], Settings]


@pytest.mark.parametrize(
    ("rule", "probe_type", "path", "say"),
    [
        ("PL102", "readiness", "/health/dependencies", lambda seconds: Settings(dependency_max=seconds)),
        ("PL204", "liveness", "/livez", lambda seconds: Settings(client_timeout=seconds)),
    ],
)
def test_slow_answers_that_clients_would_wait_for_end_in_the_verdict_exactly_if_there_is_a_finding(
    rule: str, probe_type: ProbeType, path: str, say: Say
) -> None:
    with_finding = without = 0
    for rng, chosen in configurations(probe_type):
        timings = plain({probe_type: chosen[probe_type]})
        longest = rng.randint(1, 20)
        hits = hits_of(rules()[rule], timings, paths={probe_type: path}, settings=say(longest))
        play = played(rng, timings)
        play.answer(probe_type, "success", [0])
        down = 200_000 + rng.randrange(20_000)
        play.until(down)
        # As slow as the user says that answers may be, and as clients would just wait for.
        answers_after(play, [probe_type], 1000 * longest - (0 if rule == "PL102" else 1))
        play.until(down + 400_000)
        verdict = play.records().verdict(probe_type, "Failure", down)
        if hits:
            with_finding += 1
            assert verdict is not None, (timings, longest)
            (span,) = spans(hits[0].message)
            assert span[0] <= verdict - down <= span[1], timings
        else:
            without += 1
            assert verdict is None, (timings, longest)
    assert with_finding > CASES / 10
    assert without > CASES / 10
