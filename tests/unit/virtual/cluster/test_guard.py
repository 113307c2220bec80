"""Enhanced liveness in a virtual cluster: the controller's decision over the production prober and policy."""

import re
from typing import Any

import pytest
from probelet.beside.guard.restart.protocol.reason import REASONS
from probelet.virtual.cluster import Behaviour, ClusterError, Deadlock, ProberStarved, VirtualCluster

GOOD = Behaviour(startup="5s", latency="20ms")
BAD_PROBE = Behaviour(startup="5s", latency="20ms", probe_latency="3s", probes="apart")
"""The container serves well, and its liveness probe always times out."""
FAST = {"rate.tokensPerMinute": "6000", "rate.burst": "100"}


def deployment(name: str, replicas: int, **fields: Any) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10, "timeoutSeconds": 1}
    containers = [{"name": "app", "image": "x", "livenessProbe": probe, **fields}]
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def budget(name: str, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": name}}
    kind = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    return {**kind, "metadata": {"name": name}, "spec": {"selector": selector, **spec}}


def cluster(
    *more: dict[str, Any], pods: int = 40, guarded: bool = True, settings: dict[str, str] | None = None, seed: int = 1
) -> VirtualCluster:
    made = VirtualCluster(deployment("web", pods), deployment("other", pods // 2), *more, nodes=4, seed=seed)
    made.behave("web", GOOD)
    if guarded:
        made.guard(settings)
    made.run("1m")
    return made


def lowest(made: VirtualCluster, minutes: int) -> int:
    """The fewest ready pods of the next minutes."""
    found = made.ready("web")
    for _ in range(minutes * 60):
        made.run("1s")
        found = min(found, made.ready("web"))
    return found


def test_a_bad_probe_takes_a_workload_down_without_the_guard_and_not_with_it() -> None:
    without, guarded = cluster(guarded=False), cluster()
    for each in (without, guarded):
        each.rollout("web", behaviour=BAD_PROBE)
    assert lowest(without, 10) == 0
    assert lowest(guarded, 10) >= 38
    assert len(without.kills) > 5 * len(guarded.kills) > 0


def test_never_more_restarts_than_the_rate_in_each_minute() -> None:
    made = cluster(settings={"rate.tokensPerMinute": "6", "rate.burst": "1", "breaker.action": "off"})
    made.rollout("web", behaviour=BAD_PROBE)
    made.run("15m")
    moments = [kill.at for kill in made.kills]
    assert len(moments) > 30
    assert all(sum(at <= other < at + 60 for other in moments) <= 7 for at in moments)


@pytest.mark.parametrize("room", [0, 1, 3])
def test_never_below_the_budget(room: int) -> None:
    made = cluster(
        budget("web", maxUnavailable=room),
        settings={**FAST, "breaker.action": "off", "workload.maxInFlight": "100%"},
    )
    made.behave("web", BAD_PROBE)
    assert lowest(made, 10) == 40 - room
    assert (len(made.kills) == 0) == (room == 0)
    assert made.decisions["BudgetDenied"] > 0


def test_a_container_that_hangs_is_restarted_and_serves_again() -> None:
    made = cluster(settings=FAST)
    made.fault(Deadlock("web/app", replicas="10%", at="1m"))
    made.run("3m")
    assert made.restarts("web") == 4
    assert made.ready("web") == 40
    assert {kill.probe_type for kill in made.kills} == {"liveness"}
    assert len([event for event in made.events if event.reason == "ELPRestarting"]) == 4


def test_a_hang_is_restarted_as_soon_as_by_a_kubelet_but_for_the_gathering() -> None:
    def killed_at(guarded: bool) -> float:
        made = cluster(guarded=guarded, settings=FAST if guarded else None)
        made.fault(Deadlock("web/app", replicas=1, at="1m"))
        made.run("3m")
        return made.kills[0].at

    assert 5 <= killed_at(True) - killed_at(False) <= 9


READINESS = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5, "failureThreshold": 1}


@pytest.mark.parametrize(
    ("settings", "spec", "restarts"),
    [
        ({}, {}, 12),
        ({"budget.unready": "ifHealthyBudget"}, {}, 0),
        ({}, {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}, 0),
        ({"budget.unready": "ifHealthyBudget"}, {"unhealthyPodEvictionPolicy": "AlwaysAllow"}, 12),
    ],
)
@pytest.mark.parametrize("room", [0, 2])
def test_a_hang_of_more_pods_than_the_budget_is_repaired_in_batches(
    settings: dict[str, str], spec: dict[str, str], restarts: int, room: int
) -> None:
    limits = {**FAST, "breaker.action": "off", "workload.maxInFlight": "100%", "nodeBreaker.minPods": "1000"}
    made = VirtualCluster(
        deployment("web", 12, readinessProbe=READINESS), budget("web", maxUnavailable=room, **spec), nodes=4, seed=1
    )
    made.behave("web", GOOD)
    made.guard({**limits, **settings})
    made.run("1m")
    made.fault(Deadlock("web/app", replicas="100%", at="1m"))
    made.run("10m")
    assert made.restarts("web") == restarts
    assert made.ready("web") == restarts
    moments = sorted(kill.at for kill in made.kills)
    at_once = max((sum(at <= other < at + 5 for other in moments) for at in moments), default=0)
    assert at_once == (max(1, room) if restarts else 0), moments


@pytest.mark.parametrize("seed", range(5))
def test_behind_one_broken_network_nothing_is_restarted_whatever_the_periods(seed: int) -> None:
    get = {"httpGet": {"path": "/healthz", "port": 8080}}
    fast, slow = ({**get, "periodSeconds": seconds} for seconds in (3, 30))
    workloads = deployment("fast", 8, livenessProbe=fast), deployment("slow", 24, livenessProbe=slow)
    made = VirtualCluster(*workloads, nodes=4, seed=seed)
    for name in ("fast", "slow"):
        made.behave(name, GOOD)
    made.guard({**FAST, "breaker.action": "off", "workload.maxInFlight": "100%"})
    made.run("2m")
    # The prober of one node hears nothing of any pod in time, as behind a broken network.
    made.fault(ProberStarved("node-0", late="20s", at="2m", lasts="3m"))
    made.run("10m")
    assert made.kills == []
    assert made.decisions["BreakerOpen"] > 0


def test_the_same_seed_plays_the_same_history() -> None:
    def played(seed: int) -> list[tuple[float, str]]:
        made = cluster(seed=seed, settings={"breaker.action": "off"})
        made.rollout("web", behaviour=BAD_PROBE)
        made.run("5m")
        return [(kill.at, kill.pod) for kill in made.kills]

    assert played(3) == played(3) != played(4)


def test_every_decision_has_its_reason() -> None:
    made = cluster()
    made.rollout("web", behaviour=BAD_PROBE)
    made.run("5m")
    assert set(made.decisions) <= set(REASONS)
    assert made.decisions["Restarting"] == len(made.kills)
    assert cluster(guarded=False).decisions == {}


def test_a_switch_that_is_off_restarts_nothing() -> None:
    made = cluster(settings={"enabled": "false"})
    made.rollout("web", behaviour=BAD_PROBE)
    made.run("5m")
    assert (made.kills, set(made.decisions)) == ([], {"SwitchedOff"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate.burst": "0"}, 'settings: rate.burst: Invalid value: "0": must be from 1 to 60000'),
        ({"rate.brust": "1"}, "settings: rate.brust: unknown key, ignored"),
    ],
)
def test_a_bad_setting_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ClusterError, match=f"^{re.escape(message)}$"):
        cluster(settings=settings)


def test_a_cluster_is_guarded_once() -> None:
    made = cluster()
    with pytest.raises(ClusterError, match="guarded already"):
        made.guard()
