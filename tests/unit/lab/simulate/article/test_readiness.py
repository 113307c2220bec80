"""The readiness half of the article: its two services in each situation that it describes, with the article's outcome.

https://blog.colinbreck.com/kubernetes-liveness-and-readiness-probes-how-to-avoid-shooting-yourself-in-the-foot/

Each outcome also holds with any number of the scenario a fifth lower or higher.
"""

from probelet.lab.picture.document import VerdictRow
from probelet.lab.scenario import load_scenario
from probelet.lab.simulate import play

from tests.support.paths import ROOT
from tests.unit.lab.simulate.article.service import deployment, holds, scenario, whole

LAB = ROOT / "examples" / "lab"
TELEMETRY = load_scenario(LAB / "scenarios" / "telemetry-slow.yaml")


def all_leave(result: VerdictRow) -> bool:
    """Every replica leaves at the same time, nobody is killed, and all come back."""
    return (
        result["unready_pods_max"] == 3
        and result["longest_outage_seconds"] > 30
        and result["requests"]["lost"] > 0
        and not result["kills"]
        and result["recovered"]
    )


def late_and_not_lost(result: VerdictRow) -> bool:
    return whole(result) and result["requests"]["late"] > 0


def test_a_shared_dependency_that_is_a_little_slow_takes_the_whole_service_away() -> None:
    assert holds(LAB / "server-with-dependencies.yaml", TELEMETRY, all_leave) == []


def test_with_a_timeout_above_the_dependencys_latency_requests_are_served_late_and_none_is_lost() -> None:
    assert holds(LAB / "server-careful.yaml", TELEMETRY, late_and_not_lost) == []


def test_readiness_that_asks_only_the_process_does_not_notice() -> None:
    assert holds(LAB / "cache-server.yaml", TELEMETRY, whole) == []


def test_no_request_reaches_the_cache_server_before_its_cache_is_loaded() -> None:
    document = play(LAB / "cache-server.yaml", TELEMETRY, advise=False)
    for pod in document["pods"]:
        ready = next(span for span in pod["spans"] if span["state"] == "ready")
        assert ready["from_seconds"] >= 300
        assert [span["state"] for span in pod["spans"]][-1] == "ready"


FAILING_CACHE = scenario(
    """
duration: 30m
containers: [{startup: 4m}]
traffic: [{rate: 100, timeout: 5s}]
faults: [{type: rollout, at: 1m, exitsAfter: 100s}]
"""
)


def test_a_cache_that_cannot_be_loaded_is_retried_with_back_off_behind_the_old_replicas() -> None:
    assert (
        holds(
            LAB / "cache-server.yaml",
            FAILING_CACHE,
            lambda result: result["restarts"] >= 3 and not result["requests"]["lost"],
        )
        == []
    )


SPIKE = scenario(
    """
duration: 10m
dependencies: {shared: {latency: 10ms}}
containers: [{startup: 5s, latency: 20ms, asks: {requests: [shared], readiness: [shared]}}]
traffic: [{rate: 300, timeout: 5s}]
faults: [{type: dependency-slow, dependency: shared, latency: 1.5s, at: 60s, lasts: 40s}]
"""
)


def test_a_higher_failure_threshold_waits_for_latencies_to_return_to_normal() -> None:
    assert holds(deployment("readiness"), SPIKE, lambda result: result["unready_pods_max"] == 3) == []
    assert holds(deployment("readiness failureThreshold=6"), SPIKE, late_and_not_lost) == []
