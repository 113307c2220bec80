"""The controllers in the cluster, with settings that let a test be short, and the stage of a test."""

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.guarded.stage import Stage
from tests.cluster.installed import READY_SECONDS, Installed
from tests.cluster.namespace import Namespace
from tests.system.containerd.machine import until

SHORT = {
    "enabled": "true",
    "detection": "true",
    "rate_tokensPerMinute": "600",
    "rate_burst": "20",
    "workload_maxInFlight": "20%",
    "breaker_action": "serialize",
    # No request goes before a test has counted it.
    "crr_ttlSeconds": "3600",
    # All pods are on the one node, so a bad rollout looks like a node whose network fails.
    "nodeBreaker_minPods": "1000",
}


@pytest.fixture
def stage(enhanced: Installed, cluster: Cluster, namespace: Namespace) -> Iterator[Stage]:
    """The namespace of the test, with everything ready again whatever the test before did."""
    enhanced.settings(**SHORT)
    for true in (enhanced.is_ready, enhanced.controller_is_ready):
        until(true, "the agent, the webhook and the controllers to be ready again", READY_SECONDS)
    stage = Stage(cluster, enhanced, namespace)
    yield stage
    stage.close()
