"""One cluster of three nodes for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.guarded.stage import Stage
from tests.cluster.installed import READY_SECONDS, Installed
from tests.cluster.namespace import Namespace
from tests.system.containerd.machine import until

NODES = 3
ALL_AT_ONCE = {
    "enabled": "true",
    "dryRun": "false",
    "rate_tokensPerMinute": "600",
    "rate_burst": "20",
    "workload_maxInFlight": "100%",
    "breaker_action": "off",
    "breaker_ratio": "0.5",
    "nodeBreaker_minPods": "1000",
    # No request goes before a test has counted it.
    "crr_ttlSeconds": "3600",
}
"""Nothing but budgets limits restarts. A test switches on what it is about."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cluster" in metafunc.fixturenames:
        metafunc.parametrize("cluster", [NODES], indirect=True, scope="session", ids=["three-nodes"])


@pytest.fixture
def stage(enhanced: Installed, cluster: Cluster, namespace: Namespace) -> Iterator[Stage]:
    """The namespace of the test, with every node and everything on it ready again whatever the test before did."""
    until(cluster.node_is_ready, "every node to be ready again", READY_SECONDS)
    enhanced.settings(**ALL_AT_ONCE)
    for true in (enhanced.is_ready, enhanced.controller_is_ready):
        until(true, "the agents, the webhook and the controllers to be ready again", READY_SECONDS)
    stage = Stage(cluster, enhanced, namespace)
    yield stage
    stage.close()
