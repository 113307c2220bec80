"""Each fault bites as its text says, and what comes after it is what a cluster would do."""

from typing import Any

import pytest
from probelet.virtual.cluster import (
    Attempt,
    Behaviour,
    Deadlock,
    DependencyDown,
    DependencySlow,
    Evict,
    Exit,
    Fault,
    GcPause,
    MemoryLeak,
    NodeSlow,
    Partition,
    ProberRestart,
    ProberStarved,
    Rollout,
    SlowLeak,
    StartupDrift,
    StartupSlow,
    TrafficStep,
    VirtualCluster,
)

from tests.unit.virtual.cluster.manifests import PROBE, service, workload

READINESS = {**PROBE, "periodSeconds": 5, "failureThreshold": 2}
LIVENESS = {**PROBE, "periodSeconds": 5, "failureThreshold": 3}


def cluster_of(
    *faults: Fault, probes: dict[str, Any] | None = None, nodes: int = 3, **behaviour: Any
) -> VirtualCluster:
    """Three replicas, one on each node, which ask ``auth`` for requests and readiness, for five minutes."""
    if behaviour.pop("probes_apart", False):
        behaviour["probes"] = "apart"
    chosen = {"readinessProbe": READINESS, "livenessProbe": LIVENESS} if probes is None else probes
    cluster = VirtualCluster(workload(probes=chosen), service(), nodes=nodes, seed=3)
    cluster.dependency("auth", "5ms")
    cluster.behave("web", asks={"requests": ["auth"], "readiness": ["auth"]}, **behaviour)
    cluster.traffic("web", 30)
    cluster.run("20s")
    assert cluster.ready("web") == 3
    cluster.fault(*faults)
    cluster.run("5m")
    return cluster


def attempts(cluster: VirtualCluster, pod: int, probe_type: str) -> list[Attempt]:
    return next(probe for probe in cluster.history.pods[pod].probes if probe.type == probe_type).attempts


def failures(cluster: VirtualCluster, pod: int, probe_type: str = "readiness") -> set[tuple[str, str, str]]:
    found = (each for each in attempts(cluster, pod, probe_type) if each.at >= 20 and each.outcome != "success")
    return {(each.outcome, each.cause, each.why) for each in found}


def test_a_slow_dependency_takes_all_replicas_out_at_once_and_they_come_back() -> None:
    cluster = cluster_of(DependencySlow("auth", "1.5s", at="60s", lasts="60s"))
    assert failures(cluster, 0) == {("timeout", "header_timeout", "auth")}
    endpoints = [count for _, count in cluster.history.services[0].endpoints]
    assert 0 in endpoints
    assert endpoints[-1] == 3
    assert not cluster.kills


def test_a_dependency_that_is_down_answers_503_and_one_that_hangs_lets_probes_run_out() -> None:
    down, hangs = (cluster_of(DependencyDown("auth", which, at="60s", lasts="60s")) for which in (False, True))
    assert failures(down, 0) == {("failure", "status", "auth")}
    assert failures(hangs, 0) == {("timeout", "header_timeout", "auth")}


def test_a_workload_cut_off_from_a_dependency_is_as_if_it_hung() -> None:
    cluster = cluster_of(Partition("web", "auth", at="60s", lasts="60s"))
    assert failures(cluster, 2) == {("timeout", "header_timeout", "auth")}


def test_a_node_that_is_cut_off_keeps_its_endpoints_and_loses_their_requests() -> None:
    cluster = cluster_of(Partition("node-1", at="60s", lasts="60s"))
    # A third of 30/s for a minute. The pod's probe fails, because it reaches no dependency; its kubelet cannot say so.
    assert failures(cluster, 1) == {("timeout", "header_timeout", "auth")}
    assert cluster.requests("web").lost_by["not_serving"] == pytest.approx(600)
    assert [count for at, count in cluster.history.services[0].endpoints if 30 <= at < 120] == []


def test_a_slow_node_slows_its_own_pods() -> None:
    cluster = cluster_of(NodeSlow("node-2", 300, at="60s", lasts="60s"))
    assert failures(cluster, 0) == set()
    assert failures(cluster, 2) >= {("timeout", "header_timeout", "latency")}
    assert {kill.pod for kill in cluster.kills} == {"web-v1-2"}


def test_a_starved_prober_finds_its_own_pods_failing() -> None:
    cluster = cluster_of(ProberStarved("node-0", "990ms", at="60s", lasts="60s"))
    assert failures(cluster, 0) == {("timeout", "starved", "prober")}
    assert failures(cluster, 1) == set()
    mild = cluster_of(ProberStarved("node-0", "500ms", at="60s", lasts="60s"))
    assert failures(mild, 0) == set()
    assert max(each.took for each in attempts(mild, 0, "readiness")) == pytest.approx(0.51)


def test_a_prober_that_restarts_forgets_its_counters_and_one_that_restores_does_not() -> None:
    # The liveness probe fails for the second time at 85 s; the prober is down from 87 s to 88 s.
    kills = {}
    for restore in (False, True):
        faults = (Deadlock("web/app", 1, at="78s"), ProberRestart("node-0", at="87s", down="1s", restore=restore))
        kills[restore] = cluster_of(*faults).kills[0].at
    assert kills[True] < 92 < kills[False]


def test_nobody_leaves_a_service_by_a_restart_of_a_prober_of_1_36() -> None:
    cluster = cluster_of(ProberRestart("*", at="60s"))
    assert [count for at, count in cluster.history.services[0].endpoints if at > 20] == []
    assert not cluster.kills
    assert cluster.restarts("web") == 0


def test_a_traffic_step_counts_for_its_time() -> None:
    cluster = cluster_of(TrafficStep("web", 100, at="60s", lasts="60s"))
    assert cluster.requests("web").offered == pytest.approx(30 * 320 + 70 * 60)


def test_a_deadlock_lasts_until_the_liveness_probe_has_the_container_restarted() -> None:
    cluster = cluster_of(Deadlock("web", "50%", at="60s"))
    assert failures(cluster, 0, "liveness") == {("timeout", "header_timeout", "deadlock")}
    assert [kill.pod for kill in cluster.kills] == ["web-v1-0", "web-v1-1"]
    assert cluster.ready("web") == 3
    without = cluster_of(Deadlock("web", at="60s"), probes={"readinessProbe": READINESS})
    assert without.ready("web") == 0
    assert not without.kills


def test_a_tcp_probe_does_not_see_a_deadlock() -> None:
    probe = {"tcpSocket": {"port": 8080}, "periodSeconds": 5, "timeoutSeconds": 1}
    cluster = cluster_of(Deadlock("web", at="60s"), probes={"livenessProbe": probe, "readinessProbe": probe})
    assert cluster.ready("web") == 3
    assert cluster.requests("web").lost_by["not_serving"] > 7_000


def test_a_leak_of_latency_ends_in_a_restart_and_begins_anew() -> None:
    cluster = cluster_of(SlowLeak("web/app", "60s", at="20s"), probes={"livenessProbe": LIVENESS})
    # One second after a minute, three failures five seconds apart; then the same again.
    assert [round(kill.at) for kill in cluster.kills][::3] == pytest.approx([93, 170, 247], abs=15)
    assert failures(cluster, 0, "liveness") == {("timeout", "header_timeout", "leak")}


def test_a_leak_of_memory_ends_in_a_container_that_is_killed() -> None:
    cluster = cluster_of(MemoryLeak("web/app", "30Gi", "512Mi", at="60s"))
    # 512 Mi of 30 Gi an hour: a minute. The kernel kills, and back-off grows.
    exits = [each for each in cluster.exits if each.pod == "web-v1-0"]
    assert [(each.at, each.exit_code, each.reason) for each in exits[:2]] == [
        (120, 137, "OOMKilled"),
        (180, 137, "OOMKilled"),
    ]


def test_a_pause_that_is_longer_than_the_timeout_fails_a_probe_that_meets_it() -> None:
    cluster = cluster_of(GcPause("web/app", "4s", "30s", at="60s"))
    assert ("timeout", "header_timeout", "pause") in failures(cluster, 0) | failures(cluster, 1) | failures(cluster, 2)
    assert not cluster_of(GcPause("web/app", "500ms", "30s", at="60s")).history.kills


def test_containers_that_exit_wait_for_their_back_off() -> None:
    cluster = cluster_of(*(Exit("web/app", 1, code=3, at=f"{at}s") for at in (60, 70, 90)))
    states = [span.state for span in cluster.history.pods[0].spans]
    assert states.count("back_off") == 2
    assert [each.exit_code for each in cluster.exits] == [3, 3, 3]
    assert cluster.restarts("web") == 3


def test_a_start_up_beyond_its_budget_is_killed_again_and_again() -> None:
    faults = (StartupSlow("web/app", "60s", at="30s"), Exit("web/app", 1, at="60s"))
    cluster = cluster_of(*faults)
    assert len(cluster.kills) >= 3
    assert {kill.pod for kill in cluster.kills} == {"web-v1-0"}
    assert "connection refused" in cluster.kills[0].reason


def test_a_drift_shows_at_the_next_restart() -> None:
    cluster = VirtualCluster(workload(replicas=1))
    cluster.behave("web", startup="5s")
    cluster.fault(StartupDrift("web/app", "10s"), Exit("web/app", at="24h"), Exit("web/app", at="72h"))
    cluster.run("73h")
    spans = [span for span in cluster.history.pods[0].spans if span.state == "starting"]
    assert [round(span.end - span.start, -1) for span in spans if span.end - span.start > 1] == [10, 20, 40]


def test_a_rollout_to_a_bad_version_loses_no_request_while_old_pods_are_left() -> None:
    cluster = cluster_of(Rollout("web", Behaviour(startup="1h"), at="60s"))
    assert cluster.ready("web") == 3
    assert cluster.requests("web").lost == pytest.approx(cluster.requests("web").lost_by["no_endpoint"])


def test_an_eviction_replaces_pods() -> None:
    cluster = cluster_of(Evict("web", 2, at="60s"))
    assert [pod.name for pod in cluster.history.pods if pod.spans[-1].state == "gone"] == ["web-v1-0", "web-v1-1"]
    assert cluster.ready("web") == 3


def test_a_fault_is_in_the_history_with_its_times() -> None:
    cluster = cluster_of(DependencyDown("auth", at="60s", lasts="10s"), Exit("web/app", 1, at="70s"))
    assert [(each.kind, each.target, each.start, each.end) for each in cluster.history.faults] == [
        ("dependency-down", "auth", 60.0, 70.0),
        ("exit", "web/app", 70.0, 70.0),
    ]


def test_a_status_server_of_its_own_hides_load_but_no_deadlock() -> None:
    shared = cluster_of(TrafficStep("web", 600, at="60s"), latency="50ms", concurrency=1)
    apart = cluster_of(TrafficStep("web", 600, at="60s"), latency="50ms", concurrency=1, probes_apart=True)
    assert shared.kills
    assert not apart.kills
    assert cluster_of(Deadlock("web", at="60s"), probes_apart=True).kills


def test_a_restart_of_the_prober_ends_a_back_off_unless_it_restores() -> None:
    # The third exit waits 20 s from 90 s on; the prober is back at 96 s.
    starts = {}
    for restore in (False, True):
        exits = [Exit("web/app", 1, at=f"{at}s") for at in (60, 70, 90)]
        cluster = cluster_of(*exits, ProberRestart("node-0", at="95s", down="1s", restore=restore))
        started = [event.at for event in cluster.events if event.reason == "Started" and event.pod == "web-v1-0"]
        starts[restore] = started[-1]
    assert starts == {False: 96, True: 110}


def test_a_restart_of_the_prober_in_the_middle_of_a_kill_starts_one_container() -> None:
    faults = (Deadlock("web/app", 1, at="60s"), ProberRestart("node-0", at="79s", down="1s"))
    cluster = cluster_of(*faults, stop="9s")
    assert [round(each.at) for each in cluster.exits] == [85], cluster.timeline()
    # The agent that came back learns of the end at once.
    assert [round(event.at) for event in cluster.events if event.reason == "Started" and event.at > 0] == [85]
    assert cluster.restarts("web") == 1
    assert cluster.ready("web") == 3


def test_a_leak_of_memory_counts_from_the_latest_start() -> None:
    cluster = cluster_of(MemoryLeak("web/app", "30Gi", "512Mi", at="60s"), Exit("web/app", 1, at="90s"))
    found = [(each.at, each.reason) for each in cluster.exits if each.pod == "web-v1-0"]
    assert found[:2] == [(90, "Error"), (150, "OOMKilled")]


def test_a_container_that_would_end_after_its_pod_is_gone_ends_with_it() -> None:
    cluster = VirtualCluster(workload(replicas=1))
    cluster.behave("web", exits_after="5m")
    cluster.fault(Evict("web", at="1m"))
    cluster.run("6m30s")
    assert [(round(each.at), each.exit_code) for each in cluster.exits] == [(62, 137), (360, 1)]
