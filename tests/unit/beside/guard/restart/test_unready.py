"""Pods that are not ready: what budgets say of them, in which batches they are restarted, how long they wait."""

from itertools import pairwise
from typing import Any

import pytest
from probelet.beside.guard.restart.protocol.outputs import Decision

from tests.unit.beside.guard.restart.rig import FAST, SECOND, Rig

OPEN: dict[str, str] = {**FAST, "breaker.action": "off", "queue.perWorkload": "1000"}
"""No rate and no breaker: only the limit that a test is about."""

FULL: dict[str, int] = {"disruptionsAllowed": 0, "currentHealthy": 9, "desiredHealthy": 9, "expectedPods": 10}
BELOW: dict[str, int] = FULL | {"currentHealthy": 8}
ALWAYS = {"unhealthyPodEvictionPolicy": "AlwaysAllow"}
IF_HEALTHY = {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}


@pytest.mark.parametrize(
    ("status", "spec", "setting", "passes"),
    [
        (FULL, {}, "ifHealthyBudget", True),
        (BELOW, {}, "ifHealthyBudget", False),
        (BELOW, {}, "alwaysAllow", True),
        (BELOW, {}, "", True),
        # Where the budget speaks, its word counts.
        (BELOW, IF_HEALTHY, "alwaysAllow", False),
        (FULL, IF_HEALTHY, "alwaysAllow", True),
        (BELOW, ALWAYS, "ifHealthyBudget", True),
        (BELOW, {"unhealthyPodEvictionPolicy": "ANewWord"}, "alwaysAllow", False),
        # A budget that asks for no healthy pod.
        ({"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0}, {}, "ifHealthyBudget", True),
        ({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0}, {}, "ifHealthyBudget", False),
        # A budget that lets no pod go protects pods that serve; this one does not.
        (BELOW | {"desiredHealthy": 10}, {}, "alwaysAllow", True),
        (BELOW | {"desiredHealthy": 10}, {}, "ifHealthyBudget", False),
    ],
)
def test_unready_pods_pass_a_pdb_as_evictions_do(
    status: dict[str, int], spec: dict[str, Any], setting: str, passes: bool
) -> None:
    made = Rig({**OPEN, **({"budget.unready": setting} if setting else {})})
    pods = made.pods_of("web", 10)
    pods[0].is_ready = False
    made.show(pods[0])
    made.pdb(status=status, spec={"selector": {"matchLabels": {"app": "web"}}, **spec})
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(5)
    assert len(made.creates) == passes


@pytest.mark.parametrize(("room", "most"), [(0, 1), (1, 1), (3, 3)])
@pytest.mark.parametrize("kind", ["pdb", "pub"])
def test_a_hang_of_more_pods_than_the_budget_is_repaired_in_batches(kind: str, room: int, most: int) -> None:
    """H2: all ten hang and are not ready, so the budget has no room and never gets any without restarts."""
    made = Rig({**OPEN, "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 10, is_ready=False)
    if kind == "pdb":
        made.pdb(status={"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 10 - room, "expectedPods": 10})
    else:
        made.pub(status={"unavailableAllowed": 0, "desiredAvailable": 10 - room, "totalReplicas": 10})
    made.sync()
    made.run(5)
    made.heartbeats(3000)
    made.fail(*pods)
    in_flight = 0
    for _ in range(400):
        made.run(1)
        in_flight = max(in_flight, made.in_flight)
    assert in_flight == most
    assert sorted(made.created_pods) == sorted(pod.name for pod in pods), "each once, and none is forgotten"
    # The next one goes as soon as one is over, and not at the next look 30 s later.
    gaps = [after - before for before, after in pairwise(made.created_at[::most])]
    assert max(gaps) < 25, made.created_at


def test_a_ready_pod_that_a_budget_refuses_keeps_no_unready_one_waiting() -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "100%", "budget.unready": "ifHealthyBudget"})
    pods = made.pods_of("web", 10)
    pods[1].is_ready = False
    made.show(pods[1])
    made.pdb(status=BELOW)
    made.sync()
    made.run(5)
    made.fail(*pods[:2])
    made.run(6)
    assert made.creates == [], "the ready one has no room, and the other one waits for a healthy budget"
    made.pdb(status=FULL)
    made.run(0.1)
    assert made.created_pods == ["web-1"], "the budget is healthy, though it still has no room"


def test_a_refusal_names_the_batch() -> None:
    made = Rig({**OPEN, "workload.maxInFlight": "100%"})
    pods = made.pods_of("web", 4, is_ready=False)
    made.pdb(status={"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 2, "expectedPods": 4})
    made.sync()
    made.run(5)
    made.fail(*pods)
    made.run(6)
    text = "PodDisruptionBudget web: 2 of its pods are being restarted; of pods that are not ready at most 2 at a time"
    assert {each.message for each in made.of(Decision) if each.reason == "BudgetDenied"} == {text}


def test_a_failure_that_a_budget_holds_is_on_the_metric_page_with_its_gate() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pdb(status={"disruptionsAllowed": 0, "currentHealthy": 10, "desiredHealthy": 10, "expectedPods": 10})
    made.sync()
    made.run(5)
    made.heartbeats(2000)
    made.fail(pods[0])
    made.run(700)
    held = made.guard.gauges(made.now).held
    assert {reason: ns // SECOND for reason, ns in held.items() if ns} == {"BudgetDenied": 700}
    made.configure({**OPEN, "enabled": "false"})
    held = made.guard.gauges(made.now).held
    assert {reason: ns // SECOND for reason, ns in held.items() if ns} == {"SwitchedOff": 700}, "another gate"
    made.configure(OPEN)
    made.pdb(status={"disruptionsAllowed": 1, "currentHealthy": 10, "desiredHealthy": 9, "expectedPods": 10})
    made.run(1)
    assert not any(made.guard.gauges(made.now).held.values()), "its restart is under way"


def test_a_new_leader_knows_for_how_long_a_failure_was_held() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.pdb(status={"disruptionsAllowed": 0, "currentHealthy": 10, "desiredHealthy": 10, "expectedPods": 10})
    made.run(5)
    made.heartbeats(2000)
    made.fail(pods[0])
    made.run(700)
    made.sync()
    assert made.guard.gauges(made.now).held["BudgetDenied"] == 700 * SECOND
    made.heal(pods[0])
    assert not any(made.guard.gauges(made.now).held.values())
