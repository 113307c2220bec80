"""Restarts of pods on several nodes share one budget, one breaker and one rate, and no node is left out."""

import time

import pytest

from tests.cluster.control_plane.api import Object
from tests.cluster.guarded.stage import FAILS, Stage, budget, deployment, failing, steady
from tests.cluster.guarded.timeline import timeline
from tests.cluster.several.requests import most_at_once, noted
from tests.cluster.several.workloads import node_of, on, spread
from tests.kubelet.beside.pods.make import answers

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

SHOP, REPLICAS, UNAVAILABLE = "shop", 6, 2
DEPLOYMENTS = "apps/v1/deployments"
PLAY_SECONDS = 600.0
"""Each of the pods has had a restart, at most two or one at a time, on a busy machine."""
QUIET_SECONDS = 30.0


def shop() -> Object:
    """Two pods on each node, whose liveness probe fails in each life. Readiness is patient: a busy machine is no
    fault."""
    liveness = answers("l", FAILS, failureThreshold=2, timeoutSeconds=5)
    readiness = answers("r", "200", timeoutSeconds=10, failureThreshold=10)
    return spread(deployment(SHOP, REPLICAS, liveness, readiness))


def create(stage: Stage) -> None:
    """Create them while nothing is restarted, and wait until each is ready and on its node's list."""
    stage.enhanced.settings(enabled="false")
    stage.namespace.create(shop(), DEPLOYMENTS)
    path = stage.namespace.path(DEPLOYMENTS, SHOP)

    def are_ready() -> bool:
        return bool(stage.cluster.api.get(path).get("status", {}).get("readyReplicas") == REPLICAS)

    stage.until(are_ready, f"{REPLICAS} pods to be ready")
    stage.until(lambda: len(stage.mapped()) == REPLICAS, f"{REPLICAS} entries")
    for node in stage.cluster.nodes:
        assert len(stage.entries(node.name)) == REPLICAS / len(stage.cluster.nodes)


def restarted(stage: Stage) -> set[str]:
    """The nodes on which a container of the namespace was restarted."""
    return {node_of(pod) for pod in stage.namespace.pods() if stage.restarts(pod["metadata"]["name"])}


def test_a_budget_counts_the_pods_of_all_nodes_together(stage: Stage) -> None:
    stage.namespace.create(budget(SHOP, UNAVAILABLE), "policy/v1/poddisruptionbudgets")
    create(stage)
    with noted(stage) as requests, noted(stage, "pods") as pods:
        began_ns = time.time_ns()
        stage.enhanced.settings(enabled="true")
        every = {node.name for node in stage.cluster.nodes}
        stage.until(lambda: restarted(stage) == every, "restarts on every node", PLAY_SECONDS)
    assert 1 <= most_at_once(requests) <= UNAVAILABLE
    assert timeline(pods, SHOP, began_ns).least_ready(0) >= REPLICAS - UNAVAILABLE
    stage.no_container_was_asked_for_twice()


def test_with_the_breaker_open_one_restart_at_a_time_goes_from_node_to_node(stage: Stage) -> None:
    # A pod that was restarted is well for some seconds. By the default ratio, the breaker closes when four of six are,
    # and the other two may then be restarted at once.
    stage.enhanced.settings(breaker_action="serialize", breaker_ratio="0.1")
    create(stage)
    stage.until(lambda: all(stage.state(name) == "Failed" for name in stage.mapped()), "every failure to be published")
    with noted(stage) as requests, noted(stage, "pods") as pods:
        began_ns = time.time_ns()
        stage.enhanced.settings(enabled="true")
        every = {node.name for node in stage.cluster.nodes}
        stage.until(lambda: restarted(stage) == every, "restarts on every node", PLAY_SECONDS)
    assert most_at_once(requests) == 1
    assert timeline(pods, SHOP, began_ns).least_ready(0) >= REPLICAS - 1
    stage.no_container_was_asked_for_twice()


def test_a_node_on_which_everything_fails_is_left_alone_and_the_others_are_not(stage: Stage) -> None:
    """A node whose network is broken looks like this; single pods of other nodes fail for reasons of their own."""
    _, broken, other = (node.name for node in stage.cluster.nodes)
    stage.enhanced.settings(enabled="false", nodeBreaker_minPods="4")
    there = [f"broken-{number}" for number in range(4)]
    here = [f"steady-{number}" for number in range(4)]
    pods = [on(broken, failing(name)) for name in there] + [on(other, steady(name)) for name in here]
    stage.run(*pods, on(other, failing("alone")))
    stage.until(lambda: all(stage.state(name) == "Failed" for name in (*there, "alone")), "the failures")
    stage.enhanced.settings(enabled="true")
    stage.until_restarted("alone")
    stage.until(lambda: stage.events("BreakerOpen"), "the refusal")
    time.sleep(QUIET_SECONDS)
    assert [stage.restarts(name) for name in (*there, *here)] == [0] * 8
    assert {one["spec"]["podName"] for one in stage.requests()} == {"alone"}
