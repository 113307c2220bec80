"""What the rules say about an outage: the verdict falls in the seconds of the message, in every phase."""

from dataclasses import replace

import pytest
from probelet.lab.explain import Timing
from probelet.lint.registry import rules
from probelet.lint.settings import Settings
from probelet.spec.model.probe import ProbeType

from tests.unit.lint.proofs.configurations import CASES, configurations, fails_from
from tests.unit.lint.proofs.deployments import hits_of, plain, spans, starts

DEEP = "/health/dependencies"


@pytest.mark.parametrize(
    ("rule", "probe_type", "path"),
    [
        ("PL101", "readiness", DEEP),
        ("PL102", "readiness", DEEP),
        ("PL201", "liveness", DEEP),
        ("PL204", "liveness", "/livez"),
        ("PL209", "liveness", "/readyz"),
    ],
)
def test_the_verdict_about_an_outage_falls_within_the_message(rule: str, probe_type: ProbeType, path: str) -> None:
    found = 0
    settings = Settings(client_timeout=100, dependency_max=100)
    for rng, chosen in configurations(probe_type):
        timings = plain({probe_type: chosen[probe_type]})
        (hit,) = hits_of(rules()[rule], timings, paths={probe_type: path}, settings=settings)
        (span,) = spans(hit.message)
        play, down = fails_from(rng, timings)
        verdict = play.records().verdict(probe_type, "Failure", down)
        assert verdict is not None, timings
        assert span[0] <= verdict - down <= span[1], timings
        found += 1
    assert found == CASES


def test_pl104_every_replica_is_unready_between_the_first_and_the_last_moment_of_the_message() -> None:
    for rng, chosen in configurations("readiness"):
        timings = plain({"readiness": chosen["readiness"]})
        (hit,) = hits_of(rules()["PL104"], timings, paths={"readiness": DEEP}, replicas=3)
        first, last = _first_and_last(hit.message)
        for _ in range(3):
            play, down = fails_from(rng, timings)
            unready = play.records().verdict("readiness", "Failure", down)
            assert unready is not None
            assert 1000 * first <= unready - down <= 1000 * last, timings


def _first_and_last(message: str) -> tuple[int, int]:
    first, last = message.split("the first one after ")[1].split(" s at the earliest, the last one after ")
    return int(first), int(last.split(" s at the latest")[0])


def test_pl202_a_container_that_asks_one_question_is_killed_before_the_latest_moment_on_which_it_is_unready() -> None:
    paths: dict[ProbeType, str] = {"liveness": "/health", "readiness": "/health"}
    slower = found = 0
    for rng, chosen in configurations("liveness", "readiness"):
        timings = plain(chosen)
        hits = hits_of(rules()["PL202"], timings, paths=paths, replicas=rng.choice([1, 3]))
        if not hits:
            slower += 1
            continue
        found += 1
        unready, kill = spans(hits[0].message)
        play, down = fails_from(rng, timings)
        records = play.records()
        killed = records.verdict("liveness", "Failure", down)
        assert killed is not None
        assert kill[0] <= killed - down <= kill[1], timings
        assert killed - down <= unready[1], timings
    assert slower > CASES / 10
    assert found > CASES / 10


def test_pl105_the_container_is_not_ready_sooner_and_gets_requests_for_as_long_as_the_message_says() -> None:
    for rng, chosen in configurations("readiness"):
        timing = replace(plain(chosen)["readiness"], delay=rng.randint(60, 120), period=rng.randint(30, 60))
        timings: dict[ProbeType, Timing] = {"readiness": timing}
        (hit,) = hits_of(rules()["PL105"], timings)
        play = starts(rng, timings, 0)
        for moment in sorted(rng.randrange(120_000) for _ in range(5)):
            play.until(moment)
            play.sync()
        ready = play.verdict("readiness", "Success")
        assert ready is not None
        least = int(hit.message.split("in its first ")[1].split(" s")[0])
        assert ready >= 1000 * least, timings
        down = play.now + rng.randrange(100_000)
        play.until(down)
        longest = timing.timeout * 1000 - 1
        play.answer("readiness", "failure", [rng.randint(0, longest) for _ in range(10)])
        unready = play.verdict("readiness", "Failure")
        assert unready is not None
        (span,) = spans(hit.message)
        assert span[0] <= unready - down <= span[1], timings
