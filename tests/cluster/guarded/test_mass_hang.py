"""All pods of a workload hang at once, so that its budget has no room and never gets any without restarts."""

import time

import pytest

from tests.cluster.guarded.stage import FAILS, RESTART_SECONDS, Stage, budget, deployment
from tests.kubelet.beside.pods.make import answers

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

SHOP, REPLICAS, ROOM = "shop", 5, 2
QUIET_SECONDS = 30.0


def hanging() -> tuple[dict[str, object], dict[str, object]]:
    """Liveness and readiness of a container that serves for some seconds in each life, and then hangs."""
    return answers("l", FAILS, failureThreshold=2), answers("r", FAILS, failureThreshold=1)


def live(stage: Stage) -> int:
    """Restarts under way, as their requests say."""
    return sum(one.get("status", {}).get("phase") != "Completed" for one in stage.requests())


def test_a_hang_of_more_pods_than_the_budget_is_repaired_in_batches(stage: Stage) -> None:
    limits = {"breaker_action": "off", "workload_maxInFlight": "100%", "budget_unready": "ifHealthyBudget"}
    stage.enhanced.settings(enabled="false", **limits)
    stage.namespace.create(budget(SHOP, ROOM), "policy/v1/poddisruptionbudgets")
    stage.namespace.create(deployment(SHOP, REPLICAS, *hanging()), "apps/v1/deployments")
    stage.until(lambda: len(stage.mapped()) == REPLICAS, "an entry of each pod")
    names = [one["metadata"]["name"] for one in stage.namespace.pods()]
    stage.until(lambda: all(stage.state(name) == "Failed" for name in names), "each to hang")
    stage.until(lambda: not any(stage.namespace.is_ready(name) for name in names), "each to be unready")
    stage.enhanced.settings(enabled="true")
    stage.until(lambda: stage.events("BudgetDenied"), "the refusal")
    time.sleep(QUIET_SECONDS)
    assert stage.requests() == [], "as few are healthy as then, for ever"
    stage.enhanced.settings(budget_unready="alwaysAllow")
    most = 0

    def are_restarted() -> bool:
        nonlocal most
        most = max(most, live(stage))
        return all(stage.restarts(name) > 0 for name in names)

    stage.until(are_restarted, "a restart of each", 3 * RESTART_SECONDS)
    assert 1 <= most <= ROOM
