"""A node is drained: evictions keep to the budget, and the probes follow the pods to other nodes."""

import time
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.guarded.stage import Stage, budget, deployment
from tests.cluster.guarded.timeline import timeline
from tests.cluster.several.requests import noted
from tests.cluster.several.test_budgets import DEPLOYMENTS
from tests.cluster.several.workloads import managed, node_of, spread
from tests.kubelet.beside.pods.make import answers

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

SHOP, REPLICAS = "shop", 6


@pytest.fixture
def drained(cluster: Cluster) -> Iterator[str]:
    """The node, which takes pods again after the test."""
    name = cluster.nodes[-1].name
    yield name
    cluster.kubectl("uncordon", name)


def test_pods_of_a_drained_node_are_probed_where_they_go_and_nothing_is_restarted(stage: Stage, drained: str) -> None:
    good = [answers(name, "200", timeoutSeconds=10, failureThreshold=10) for name in ("l", "r")]
    stage.namespace.create(budget(SHOP, 1), "policy/v1/poddisruptionbudgets")
    # Readiness is the agent's, liveness the controller's.
    stage.namespace.create(managed(spread(deployment(SHOP, REPLICAS, *good))), DEPLOYMENTS)
    stage.until(lambda: ready(stage) == REPLICAS == len(stage.mapped()), f"{REPLICAS} pods to be ready, and entries")
    assert stage.entries(drained)
    with noted(stage, "pods") as pods:
        began_ns = time.time_ns()
        stage.cluster.kubectl("drain", drained, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=110s")
        stage.until(lambda: ready(stage) == REPLICAS == len(stage.mapped()), "all to be ready and mapped elsewhere")
    assert drained not in {node_of(pod) for pod in stage.namespace.pods()}
    stage.until(lambda: not stage.entries(drained), "the entries of the drained node to go")
    assert timeline(pods, SHOP, began_ns).least_ready(0) >= REPLICAS - 1
    assert stage.requests() == []
    assert not any(stage.restarts(pod["metadata"]["name"]) for pod in stage.namespace.pods())
    # The agent stays on it, as a kubelet does.
    assert stage.enhanced.agent_is_ready()


def ready(stage: Stage) -> int:
    status = stage.cluster.api.get(stage.namespace.path(DEPLOYMENTS, SHOP)).get("status", {})
    return int(status.get("readyReplicas", 0)) if status.get("replicas") == REPLICAS else 0
