"""Many failed probes: limits, breakers, budgets, the queue and the tokens."""

from collections.abc import Iterator
from typing import Any

import pytest
from probelet.beside.guard.objects.budget import read_disruption_budget
from probelet.beside.guard.objects.node import GuardedWorkload
from probelet.beside.guard.objects.node_probes import read_node_probes
from probelet.beside.guard.objects.owner import Owner
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.inputs import BudgetsReadable, WorkloadChanged
from probelet.beside.guard.restart.protocol.outputs import Reserve
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.state.budgets import Budgets
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions, ObservedCluster
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.beside.guard.restart.waiting import Waiting

from tests.unit.beside.guard.restart.rig import FAST, SECOND, Rig

WEB = {"matchLabels": {"app": "web"}}
WEB_SET = WorkloadKey("default", "StatefulSet", "web")
OPEN: dict[str, str] = {**FAST, "breaker.action": "off", "queue.perWorkload": "1000"}
"""No rate and no breaker: only the limit that a test is about."""


def watch(made: Rig, seconds: int) -> int:
    """Let time go by; the most restarts that were under way."""
    most = made.in_flight
    for _ in range(seconds):
        made.run(1)
        most = max(most, made.in_flight)
    return most


@pytest.mark.parametrize(("action", "most"), [("serialize", 1), ("off", 20), ("block", 0)])
def test_t30_a_hundred_pods_fail_at_once(action: str, most: int) -> None:
    made = Rig({**OPEN, "breaker.action": action})
    pods = made.pods_of("web", 100)
    made.sync()
    made.run(5)
    made.heartbeats(3000)
    made.fail(*pods)
    assert watch(made, 300) == most
    if action == "off":
        assert len(made.creates) == 100, "every pod got its restart"
    elif action == "serialize":
        assert 10 <= len(made.creates) < 100, "one after the other, 22 s each"
        [event] = [each for each in made.events("ELPBreakerOpen") if each.regarding.kind == "StatefulSet"][:1]
        assert event.regarding.name == "web"
        assert "100 of 100 probed pods of StatefulSet default/web fail at once" in event.message


@pytest.mark.parametrize(
    ("limit", "replicas", "expected"),
    [("20%", 100, 20), ("20%", 3, 1), ("20%", 6, 2), ("0%", 100, 1), ("3", 100, 3), ("100%", 5, 5), ("0", 9, 1)],
)
def test_r9_the_limit_is_rounded_up_and_at_least_one(limit: str, replicas: int, expected: int) -> None:
    made = Rig({**OPEN, "workload.maxInFlight": limit})
    pods = made.pods_of("web", replicas)
    made.sync()
    made.run(5)
    made.fail(*pods)
    assert watch(made, 20) == expected


def test_r9_replicas_count_by_probed_pods_where_the_workload_is_not_known() -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "50%"})
    pods = made.pods_of("web", 8)
    made.give(WorkloadChanged("uid-web", None))
    made.sync()
    made.run(5)
    made.fail(*pods)
    assert watch(made, 20) == 4


def test_workloads_do_not_share_a_limit() -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "1"})
    pods = made.pods_of("web", 6) + made.pods_of("api", 6)
    made.sync()
    made.run(5)
    made.fail(*pods)
    assert watch(made, 15) == 2


def test_r12_a_restart_counts_until_its_container_is_ready_but_not_for_ever() -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "1"}, serves=False)
    pods = made.pods_of("web", 3)
    made.sync()
    made.run(5)
    made.heartbeats(1000)
    made.fail(*pods)
    made.run(6)
    [key] = made.requests
    first = made.pods[made.created_pods[0]]
    made.finish(key)
    first.unready.add("app")
    made.show(first)
    made.run(30)
    assert made.in_flight <= 1
    made.run(60)
    assert len(made.creates) == 2


def test_node_breaker_blocks_only_the_node_that_fails_as_a_whole() -> None:
    """F-11."""
    made = Rig(OPEN)
    bad = [made.pod(f"a-{number}", node="bad", workload=f"w{number}") for number in range(5)]
    good = [made.pod(f"b-{number}", node="good", workload=f"v{number}") for number in range(5)]
    made.sync()
    made.run(5)
    made.heartbeats(1000)
    made.fail(*bad[:4], good[0])
    assert set(made.created_pods) <= {"b-0"}
    made.run(20)
    assert made.created_pods == ["b-0"]
    [event] = made.events("ELPBreakerOpen")
    assert (event.regarding.kind, event.regarding.name) == ("Node", "bad")
    assert event.message == "4 of 5 probed pods of node bad fail at once"
    made.heal(bad[0])
    made.run(31)
    assert len(made.creates) == 4, "below the ratio the others are restarted"


def test_breakers_need_enough_pods() -> None:
    made = Rig({**FAST, "breaker.action": "block"})
    pods = made.pods_of("web", 2)
    made.sync()
    made.run(5)
    made.fail(*pods)
    made.run(5)
    assert len(made.creates) == 1, "two pods are no crowd; the limit of 20 % is one"


# Budgets.


@pytest.mark.parametrize("kind", ["pdb", "pub"])
def test_t31_never_more_in_flight_than_the_budget(kind: str) -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 10)
    allowed = "disruptionsAllowed" if kind == "pdb" else "unavailableAllowed"
    getattr(made, kind)(status={allowed: 2, "currentHealthy": 10, "desiredHealthy": 8, "desiredAvailable": 8})
    made.sync()
    made.run(5)
    made.heartbeats(1000)
    made.fail(*pods)
    [(key, budget)] = made.budgets.items()
    most = 0
    for _ in range(400):
        down = sum(bool(pod.unready) for pod in pods)
        most = max(most, made.in_flight)
        assert budget["status"][allowed] >= 0
        # The budget's controller: a reservation ends when its pod is down or up again.
        reserved = budget["status"].setdefault("unavailablePods", {})
        gone = {name for name in reserved if made.pods[name].unready or name not in made.created_pods[-2:]}
        budget["status"]["unavailablePods"] = {name: at for name, at in reserved.items() if name not in gone}
        still = sum(not made.pods[name].unready for name in budget["status"]["unavailablePods"])
        if budget["status"][allowed] != max(0, 2 - down - still) or gone:
            budget["status"][allowed] = max(0, 2 - down - still)
            made.show_budget(key)
        made.run(1)
    assert most == 2
    assert len(made.creates) >= 10


def test_t31_a_reservation_is_written_before_the_request_and_again_until_it_is_done() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pub(status={"unavailableAllowed": 2, "desiredAvailable": 8})
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(6)
    kinds = [type(output).__name__ for _, output in made.outputs if type(output).__name__ in ("Reserve", "Create")]
    assert kinds == ["Reserve", "Create"]
    [first] = made.of(Reserve)
    assert first.patch["status"] == {"unavailablePods": {"web-0": made.at(10 * SECOND)}, "unavailableAllowed": 1}
    made.run(40)
    again = [each for each in made.of(Reserve) if each is not first]
    assert len(again) == 4, "every 5 s for the 22 s of the restart"
    assert "unavailableAllowed" not in again[0].patch["status"]


def test_t31_a_reservation_that_meets_a_conflict_is_tried_again() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pub(status={"unavailableAllowed": 2, "desiredAvailable": 8})
    made.sync()
    made.run(5)
    made.answer = {Reserve: "conflict"}
    made.fail(pods[0])
    made.run(7.2)
    assert made.creates == []
    assert 4 <= len(made.of(Reserve)) <= 6
    made.answer = {}
    made.run(1)
    assert made.created_pods == ["web-0"]


def test_t32_a_budget_without_room_keeps_ready_pods_with_one_event_in_five_minutes() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pdb(status={"disruptionsAllowed": 0, "currentHealthy": 10, "desiredHealthy": 10})
    made.sync()
    made.run(5)
    made.heartbeats(2000)
    made.fail(pods[0])
    made.run(290)
    assert made.creates == []
    assert made.last("web-0").reason == "BudgetDenied"
    assert len(made.events("BudgetDenied")) == 1
    made.run(600)
    assert len(made.events("BudgetDenied")) == 3
    made.pdb(status={"disruptionsAllowed": 1, "currentHealthy": 10, "desiredHealthy": 9})
    made.run(0.1)
    assert made.created_pods == ["web-0"], "a change of the budget is enough"


def test_t33_pods_that_are_not_ready_are_throttled_too() -> None:
    made = Rig({**FAST, "queue.perWorkload": "1000"})
    pods = made.pods_of("web", 30, is_ready=False)
    made.pub(status={"unavailableAllowed": 0, "desiredAvailable": 20})
    made.sync()
    made.run(5)
    made.heartbeats(3000)
    made.fail(*pods)
    assert watch(made, 100) == 1
    assert made.of(Reserve) == [], "the pods do not count as available, so they need no place"


@pytest.mark.parametrize(
    ("fields", "annotations", "is_covered"),
    [
        ({}, {}, True),
        ({"status": {"unavailableAllowed": 0, "desiredAvailable": 0}}, {}, False),
        ({}, {"pub.kruise.io/no-protect": "true"}, False),
        ({"spec": {"selector": WEB, "ignoredPodSelector": WEB}}, {}, False),
        ({"spec": {"selector": WEB, "protectOperations": ["DELETE"]}}, {}, False),
        ({"metadata": {"annotations": {"kruise.io/pub-protect-operations": "DELETE,EVICT"}}}, {}, False),
        ({"metadata": {"annotations": {"kruise.io/pub-protect-operations": "DELETE, UPDATE"}}}, {}, True),
        ({"spec": {"selector": {}}}, {}, False),
        ({"app": "other"}, {"pub.kruise.io/related-pub": "web"}, True),
        ({}, {"pub.kruise.io/related-pub": "another"}, False),
        ({"spec": {"selector": None, "targetRef": {"kind": "StatefulSet", "name": "web"}}}, {}, True),
        ({"spec": {"selector": None, "targetRef": {"kind": "StatefulSet", "name": "x"}}}, {}, False),
    ],
)
def test_which_pods_a_pub_covers(fields: dict[str, Any], annotations: dict[str, str], is_covered: bool) -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    pods[0].annotations = annotations
    made.show(pods[0])
    made.pub(**{"status": {"unavailableAllowed": 0, "desiredAvailable": 10}, **fields})
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(5)
    assert (made.last("web-0").reason == "BudgetDenied") == is_covered


def test_every_budget_has_to_allow_it() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pdb("a", status={"disruptionsAllowed": 1})
    made.pdb("b", status={"disruptionsAllowed": 0})
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(5)
    assert made.last("web-0").message == "PodDisruptionBudget b allows 0 more"
    made.pub("c", status={"unavailableAllowed": 0, "desiredAvailable": 10})
    made.pdb("b", status={"disruptionsAllowed": 1})
    made.run(5)
    assert made.last("web-0").message == "PodUnavailableBudget c allows 0 more"
    assert made.creates == []


def test_a_refusal_says_how_many_restarts_the_budgets_status_does_not_show_yet() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pdb("a", status={"disruptionsAllowed": 1})
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.fail(pods[1])
    made.run(5)
    (restarted,) = made.created_pods
    (denied,) = {"web-0", "web-1"} - {restarted}
    text = "PodDisruptionBudget a allows 1 more; restarts that its status does not show yet: 1"
    assert made.last(denied).message == text


class OneRestart:
    """One restart under way; its pod has been unready for a while, or is ready still."""

    def __init__(self, since_ns: int | None) -> None:
        self.since_ns = since_ns

    def in_flight(self, namespace: str) -> Iterator[tuple[GuardedPod, WorkloadKey]]:
        yield GuardedPod(namespace, "web-0", "u0", True, "", labels={"app": "web"}), WEB_SET

    def unready_ns(self, uid: str) -> int | None:
        return self.since_ns


@pytest.mark.parametrize(
    ("since", "status", "now", "is_counted"),
    [(None, 30, 40, True), (5, 4, 40, True), (5, 5, 15, False), (5, 14, 15, False), (5, 14, 14.9, True)],
)
def test_a_budgets_status_shows_a_restart_ten_seconds_after_its_pod_became_unready(
    since: float | None, status: float, now: float, is_counted: bool
) -> None:
    budgets, pod = Budgets(), GuardedPod("default", "web-1", "u1", True, "", is_ready=True, labels={"app": "web"})
    meta = {"name": "a", "namespace": "default", "generation": 1, "resourceVersion": "1"}
    allows_one = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 10, "desiredHealthy": 9}
    budget = read_disruption_budget({"metadata": meta, "spec": {"selector": WEB}, "status": allows_one})
    budgets.change(("PodDisruptionBudget", "default", "a"), budget, int(status * SECOND))
    down = OneRestart(None if since is None else int(since * SECOND))
    refusal = budgets.check(pod, WEB_SET, down, int(now * SECOND), config=Config(), placed=())
    assert (refusal is not None) == is_counted


def test_a_status_that_is_older_than_the_spec_denies() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pdb(generation=2, status={"disruptionsAllowed": 5})
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(5)
    assert made.last("web-0").reason == "BudgetUnknown"


@pytest.mark.parametrize("kind", ["pdb", "pub"])
def test_a_budget_without_a_status_is_said_and_does_not_block_for_ever(kind: str) -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    getattr(made, kind)(status=None)
    made.sync()
    made.run(5)
    made.heartbeats(1000)
    made.fail(pods[0])
    made.run(200)
    assert made.last("web-0").reason == "BudgetUnknown"
    made.run(130)
    assert made.created_pods == ["web-0"]
    [event] = made.events("ELPBudgetWithoutStatus")
    assert event.regarding.kind == ("PodDisruptionBudget" if kind == "pdb" else "PodUnavailableBudget")


def test_budgets_that_cannot_be_read_deny_and_kinds_that_are_not_served_do_not() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.give(BudgetsReadable("PodUnavailableBudget", "absent"))
    made.give(BudgetsReadable("PodDisruptionBudget", "unreadable"))
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(5)
    assert made.last("web-0").reason == "BudgetUnknown"
    made.give(BudgetsReadable("PodDisruptionBudget", "served"))
    made.run(1)
    assert made.created_pods == ["web-0"]


def test_without_a_budget_the_setting_decides() -> None:
    made = Rig({**OPEN, "budget.missing": "deny"})
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(5)
    assert made.last("web-0").reason == "BudgetDenied"


def test_a_single_replica_without_a_budget_is_restarted() -> None:
    made = Rig(FAST)
    pods = made.pods_of("web", 1)
    made.sync()
    made.run(5)
    made.fail(*pods)
    made.run(5)
    assert made.created_pods == ["web-0"]


def test_a_budget_whose_controller_is_gone_is_never_overdrawn() -> None:
    """Its status never changes, so each of our restarts counts until it is over."""
    made = Rig({**OPEN, "workload.maxInFlight": "100%"}, restart_seconds=100)
    pods = made.pods_of("web", 10)
    made.pdb(status={"disruptionsAllowed": 2, "currentHealthy": 10, "desiredHealthy": 8})
    made.sync()
    made.run(5)
    made.heartbeats(1000)
    made.fail(*pods)
    assert watch(made, 250) == 2


# Tokens and queue.


def test_t34_the_rate_of_tokens() -> None:
    made = Rig({**OPEN, "rate.tokensPerMinute": "6", "rate.burst": "1", "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 20)
    made.sync()
    made.heartbeats(1000)
    made.fail(*pods)
    made.run(400)
    assert len(made.creates) == 20
    assert made.created_at[-1] - made.created_at[0] >= 190
    assert made.created_at[0] >= 10, "the bucket begins empty (F-3)"


def test_a_quiet_time_allows_a_burst() -> None:
    made = Rig({**OPEN, "rate.tokensPerMinute": "6", "rate.burst": "3", "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 20)
    made.sync()
    made.run(600)
    made.fail(*pods)
    made.run(9)
    assert len(made.creates) == 3


def test_a_new_rate_keeps_the_tokens() -> None:
    made = Rig({**OPEN, "rate.tokensPerMinute": "6", "rate.burst": "5"})
    made.sync()
    made.run(25)
    assert made.guard.gauges(made.now).tokens == 2
    made.configure({**OPEN, "rate.tokensPerMinute": "60", "rate.burst": "10"})
    assert made.guard.gauges(made.now).tokens == 2
    made.run(1)
    assert made.guard.gauges(made.now).tokens == 3
    made.configure({**OPEN, "rate.tokensPerMinute": "60", "rate.burst": "1"})
    assert made.guard.gauges(made.now).tokens == 1


def test_t35_a_full_queue_discards_and_none_is_lost() -> None:
    rate = {"rate.tokensPerMinute": "60", "rate.burst": "1"}
    made = Rig({**OPEN, **rate, "queue.perWorkload": "3", "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 30)
    made.sync()
    made.heartbeats(1000)
    made.fail(*pods)
    assert made.queued == 3
    assert made.reasons().count("QueueFull") == 27
    made.run(40)
    assert sorted(made.created_pods) == sorted(pod.name for pod in pods)


def test_the_queue_is_random_with_a_seed_or_in_order() -> None:
    def order(config: dict[str, str], seed: int = 0) -> list[str]:
        made = Rig({**OPEN, "rate.tokensPerMinute": "60", "workload.maxInFlight": "100%", **config}, seed=seed)
        pods = made.pods_of("web", 10)
        made.sync()
        made.fail(*pods)
        made.run(20)
        return made.created_pods

    in_order = [f"web-{number}" for number in range(10)]
    assert order({"queue.random": "false"}) == in_order
    assert order({}, 1) == order({}, 1) != order({}, 2)
    assert sorted(order({}, 3)) == in_order


def test_a_workload_with_many_failures_does_not_hold_up_another_one() -> None:
    made = Rig({**OPEN, "rate.tokensPerMinute": "60", "rate.burst": "1", "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 300) + made.pods_of("api", 1)
    made.sync()
    made.run(2)
    made.heartbeats(2000)
    made.fail(*pods)
    made.run(15)
    assert "api-0" in made.created_pods, "each workload is next as often as any other"


def test_a_replica_set_belongs_to_its_deployment() -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "1"})
    made.give(WorkloadChanged("uid-d", GuardedWorkload("apps/v1", "Deployment", "default", "shop", "uid-d", 20)))
    owner = Owner("apps/v1", "Deployment", "shop", "uid-d")
    for name in ("old", "new"):
        set_ = GuardedWorkload("apps/v1", "ReplicaSet", "default", name, f"uid-{name}", 10, owner)
        made.give(WorkloadChanged(f"uid-{name}", set_))
    pods = [made.pod(f"{name}-{each}", node=f"n{each}", workload=name) for name in ("old", "new") for each in (1, 2)]
    made.sync()
    made.run(5)
    made.fail(*pods)
    assert watch(made, 10) == 1
    assert {str(workload) for workload in made.guard.gauges(made.now).in_flight} == {"Deployment default/shop"}


def test_the_order_in_which_owners_become_known_does_not_matter() -> None:
    made = Rig({**FAST, "breaker.action": "block"})
    pods = [made.pod(f"p{number}", node=f"n{number}", workload=name) for number, name in enumerate("aabb")]
    made.sync()
    owner = Owner("apps/v1", "Deployment", "shop", "uid-d")
    for name in "ab":
        set_ = GuardedWorkload("apps/v1", "ReplicaSet", "default", name, f"uid-{name}", 2, owner)
        made.give(WorkloadChanged(f"uid-{name}", set_))
    made.run(5)
    made.fail(*pods)
    assert "4 of 4 probed pods of Deployment default/shop" in made.last("p3").message
    assert made.guard.gauges(made.now).open_workloads == 1


def test_a_pod_stands_at_the_gate_that_refused_it_last() -> None:
    waiting = Waiting()
    waiting.put("a", "budget", None)
    waiting.put("b", "budget", 5)
    waiting.put("a", "limit", None)
    assert (waiting.at("budget"), waiting.at("limit")) == (["b"], ["a"])
    waiting.drop("b")
    assert waiting.at("budget") == []
    assert waiting.deadline() is None


def test_the_entry_of_a_node_where_the_pod_does_not_run_changes_nothing() -> None:
    cluster = ObservedCluster(GuardOptions())
    probe = {"name": "web-0-app", "containerName": "app", "probe": {"periodSeconds": 10}}
    entry = {"name": "web-0", "namespace": "default", "uid": "u", "probes": [probe]}
    old, new = (
        read_node_probes({"metadata": {"name": node}, "spec": {"podProbes": [entry]}}, "seed")
        for node in ("node1", "node2")
    )
    cluster.change_pod("u", GuardedPod("default", "web-0", "u", True, "", node="node2"), 0)
    assert cluster.change_probes("node1", old, 0) == {"u"}, "there is no other entry yet"
    assert cluster.change_probes("node2", new, 0) == {"u"}
    assert cluster.change_probes("node1", old, 0) == set()
    assert cluster.entries["u"][0] == "node2"
    assert cluster.change_probes("node1", None, 0) == set()
    assert cluster.entries["u"][0] == "node2"
