"""The liveness half of the article: status servers, cascades, start-ups that become slower, and regular restarts.

Each outcome also holds with any number of the scenario a fifth lower or higher, where the text does not say otherwise.
"""

from probelet.picture.document import VerdictRow

from tests.unit.simulate.article.service import deployment, holds, scenario, verdict

LOAD = """
duration: 15m
containers: [{startup: 20s, latency: 50ms, concurrency: 16, queue: 1000}]
traffic: [{rate: 600, timeout: 10s, slo: 1s}]
faults: [{type: traffic-step, factor: 2, at: 1m, lasts: 3m}]
"""
"""Three replicas serve 960 requests a second; for three minutes 1,200 come."""


def cascades(result: VerdictRow) -> bool:
    return result["kills"] > 3 and result["longest_outage_seconds"] > 0


def test_a_short_liveness_timeout_turns_load_into_restarts_and_more_load() -> None:
    assert cascades(verdict(deployment("liveness"), scenario(LOAD)))


def test_without_the_probe_the_availability_is_better() -> None:
    killed = verdict(deployment("liveness"), scenario(LOAD))
    left_alone = verdict(deployment(), scenario(LOAD))
    assert left_alone["requests"]["lost"] < killed["requests"]["lost"] / 2
    assert left_alone["recovered"]


def test_a_timeout_like_that_of_clients_and_a_forgiving_threshold_guard_against_it() -> None:
    manifests = deployment("liveness timeoutSeconds=5 failureThreshold=6")
    assert holds(manifests, scenario(LOAD), lambda result: not result["kills"] and result["recovered"]) == []
