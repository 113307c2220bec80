"""The requests to a Service: each is served or lost, and simple cases have the numbers of a calculation by hand."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from probelet.virtual.cluster import (
    Deadlock,
    DependencyDown,
    DependencySlow,
    Exit,
    GcPause,
    NodeSlow,
    TrafficStep,
    VirtualCluster,
)

from tests.unit.virtual.cluster.manifests import service, workload

LIVENESS = {"livenessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 7, "failureThreshold": 2}}


def steady(rate: float, replicas: int = 1, **behaviour: Any) -> VirtualCluster:
    """A cluster that serves from its first second on, without probes."""
    cluster = VirtualCluster(workload(replicas=replicas, probes={}), service(), endpoint_delay="0s")
    cluster.behave("web", **behaviour)
    cluster.traffic("web", rate, timeout="1s", slo="100ms")
    return cluster


def test_without_a_limit_every_request_takes_the_latency() -> None:
    cluster = steady(100, latency="99ms")
    cluster.run("10s")
    found = cluster.requests("web")
    assert (found.offered, found.served, found.late, found.lost) == pytest.approx((1_000, 1_000, 0, 0))
    cluster.behave("web", latency="101ms")
    cluster.run("10s")
    assert cluster.requests("web").late == pytest.approx(1_000)


def test_twice_the_capacity_fills_the_queue_and_half_is_lost() -> None:
    # One worker serves 10 requests a second, 20 come: the queue of 30 is full after 3 s, then 10 a second find no room.
    cluster = steady(20, latency="100ms", concurrency=1, queue=30)
    cluster.run("10s")
    found = cluster.requests("web")
    # From the start on 18.05 wait by chance (one worker at 0.95), 1.8 s: that is too long for a client.
    assert found.offered == pytest.approx(200)
    assert found.lost_by["queue_full"] == pytest.approx(7 * 10)
    assert found.lost_by["timeout"] == pytest.approx(200 - 70 - found.served)
    assert found.served == pytest.approx(0)


def test_below_saturation_the_wait_is_that_of_the_formula() -> None:
    # One worker, 80 requests a second, capacity 100: 3.2 wait (M/M/1), so 32 ms; with the 10 ms of work 42 ms.
    for slo, late in (("41ms", 800), ("43ms", 0)):
        cluster = VirtualCluster(workload(replicas=1, probes={}), service(), endpoint_delay="0s")
        cluster.behave("web", latency="10ms", concurrency=1)
        cluster.traffic("web", 80, slo=slo)
        cluster.run("10s")
        assert cluster.requests("web").late == pytest.approx(late)


def test_of_a_log_normal_latency_the_share_beyond_the_timeout_is_lost() -> None:
    cluster = steady(1_000, latency={"p50": "100ms", "p99": "1s"})
    cluster.run("100s")
    found = cluster.requests("web")
    assert found.lost == pytest.approx(1_000, rel=1e-3)
    assert found.late == pytest.approx(50_000 - 1_000, rel=1e-3)


def test_load_moves_to_the_replicas_that_are_left() -> None:
    # Each replica serves 100/s; 240/s are 80 each, without one of three 120 each.
    probes = {"readinessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 1, "failureThreshold": 1}}
    cluster = VirtualCluster(workload(probes=probes), service(), endpoint_delay="0s")
    cluster.behave("web", latency="40ms", concurrency=4, queue=1_000)
    cluster.traffic("web", 240)
    cluster.run("60s")
    assert cluster.requests("web").lost == pytest.approx(0, abs=60)
    before = cluster.requests("web").lost
    cluster.fault(Deadlock("web/app", 1, at="60s"))
    cluster.run("30s")
    assert cluster.requests("web").lost - before > 500
    # The two that are left are overloaded, leave too, recover, and are overloaded again.
    pods = cluster.history.pods
    assert all(any(span.state == "unready" for span in pod.spans) for pod in pods), cluster.timeline()


def test_requests_that_a_container_holds_when_it_ends_are_lost() -> None:
    cluster = steady(100, latency="500ms")
    cluster.run("10s")
    cluster.fault(Exit("web/app", at="10s"))
    cluster.run("1s")
    assert cluster.requests("web").lost_by["ended"] == pytest.approx(50)


def test_a_dependency_that_refuses_fails_requests_and_one_that_hangs_holds_their_workers() -> None:
    cluster = steady(40, latency="10ms", concurrency=1, queue=5)
    cluster.dependency("auth", "10ms")
    cluster.behave("web", asks={"requests": ["auth"]})
    cluster.fault(DependencyDown("auth", at="10s", lasts="10s"))
    cluster.run("20s")
    found = cluster.requests("web")
    assert found.lost == pytest.approx(found.lost_by["dependency"]) == pytest.approx(400)
    cluster.fault(DependencyDown("auth", hangs=True, at="20s", lasts="10s"))
    cluster.run("10s")
    found = cluster.requests("web")
    # For ten seconds one request a second is worked on, and the queue's five come out of it later.
    assert found.lost_by["dependency"] + found.lost_by["queue_full"] == pytest.approx(800)


def test_history_has_the_totals_in_its_steps() -> None:
    cluster = steady(123, replicas=2, latency={"p50": "300ms", "p99": "2s"}, concurrency=30)
    cluster.fault(TrafficStep("web", 400, at="100s", lasts="50s"))
    cluster.run("2h")
    record = cluster.history.services[0]
    assert len(record.load) <= 4_096
    for name in ("offered", "served", "late", "lost"):
        summed = math.fsum(getattr(step, name) * (step.end - step.start) for step in record.load)
        assert summed == pytest.approx(getattr(record.totals, name))
    assert max(step.offered for step in record.load) == pytest.approx(400)


FAULTS = st.lists(
    st.one_of(
        st.integers(0, 200).map(lambda at: DependencySlow("auth", "900ms", at=f"{at}s", lasts="30s")),
        st.integers(0, 200).map(lambda at: DependencyDown("auth", at=f"{at}s", lasts="20s")),
        st.integers(0, 200).map(lambda at: DependencyDown("auth", hangs=True, at=f"{at}s", lasts="20s")),
        st.integers(0, 200).map(lambda at: Deadlock("web/app", 1, at=f"{at}s")),
        st.integers(0, 200).map(lambda at: Exit("web/app", "50%", at=f"{at}s")),
        st.integers(0, 200).map(lambda at: GcPause("web/app", "3s", "10s", at=f"{at}s", lasts="40s")),
        st.integers(0, 200).map(lambda at: NodeSlow("*", 6.0, at=f"{at}s", lasts="40s")),
        st.integers(0, 200).map(lambda at: TrafficStep("web", 500, at=f"{at}s", lasts="15s")),
    ),
    max_size=4,
)
SPREADS = st.sampled_from(["20ms", {"p50": "30ms", "p99": "400ms"}, {"min": "10ms", "max": "300ms", "per_day": "1h"}])


def built(faults: list[Any], spread: Any, seed: int, concurrency: int | None, queue: int) -> VirtualCluster:
    cluster = VirtualCluster(workload(probes=LIVENESS), service(), nodes=2, seed=seed)
    cluster.dependency("auth", {"p50": "5ms", "p99": "50ms"})
    asks = {"requests": ["auth"], "liveness": ["auth"]}
    cluster.behave("web", latency=spread, concurrency=concurrency, queue=queue, asks=asks, startup="3s")
    cluster.traffic("web", 100)
    cluster.fault(*faults)
    return cluster


@given(FAULTS, SPREADS, st.integers(0, 2**64 - 1), st.sampled_from([None, 1, 8]), st.sampled_from([0, 5, 200]))
@settings(deadline=None, max_examples=settings().max_examples // 3)
def test_every_request_is_served_or_lost(
    faults: list[Any], spread: Any, seed: int, concurrency: int | None, queue: int
) -> None:
    cluster = built(faults, spread, seed, concurrency, queue)
    previous = 0.0
    for _ in range(5):
        cluster.run("1m")
        found = cluster.requests("web")
        assert found.offered == pytest.approx(found.served + found.lost, rel=1e-6)
        assert math.fsum(found.lost_by.values()) == pytest.approx(found.lost, rel=1e-6)
        assert -1e-6 <= found.late <= found.served + 1e-6
        assert found.offered >= previous + 6_000 - 1e-3
        previous = found.offered


@given(FAULTS, SPREADS, st.integers(0, 2**63))
@settings(deadline=None, max_examples=settings().max_examples // 10)
def test_the_same_seed_gives_the_same_history_byte_for_byte_also_in_many_steps(
    faults: list[Any], spread: Any, seed: int
) -> None:
    one, other = built(faults, spread, seed, 8, 50), built(faults, spread, seed, 8, 50)
    one.run("4m")
    for _ in range(2):
        other.run("2m")
    assert msgspec.json.encode(one.history) == msgspec.json.encode(other.history)
    assert one.timeline() == other.timeline()


def test_another_seed_gives_another_history() -> None:
    histories = set()
    for seed in range(3):
        cluster = built([], {"p50": "30ms", "p99": "400ms"}, seed, 8, 50)
        cluster.run("2m")
        histories.add(msgspec.json.encode(cluster.history.pods))
    assert len(histories) == 3
