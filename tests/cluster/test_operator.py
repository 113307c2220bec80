"""What an operator does with an agent: looks, pauses a probe, and finds the pods of a node that has no agent."""

import time
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import steady
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.cluster.status import LEASE_SECONDS, coverage
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

PAUSE_SECONDS = 5.0


def test_a_paused_pod_is_not_probed_and_stays_ready(probelet: Installed, namespace: Namespace) -> None:
    namespace.create(steady("web"))
    namespace.until_ready("web")
    pod = f"{namespace.name}/web"
    assert pod in probelet.in_agent("status")
    probelet.in_agent("pause", pod, "--for", "10m")
    # An attempt may be under way.
    time.sleep(1)
    before = _requests(namespace)
    time.sleep(PAUSE_SECONDS)
    assert _requests(namespace) == before
    assert namespace.is_ready("web")
    probelet.in_agent("pause", pod, "--end")
    namespace.until(lambda: _requests(namespace) > before, "probes after the pause")


def _requests(namespace: Namespace) -> int:
    return namespace.cluster.kubectl("logs", "web", "-n", namespace.name).count('"what":"http"')


@pytest.fixture
def without_agent(cluster: Cluster, probelet: Installed) -> Iterator[None]:
    """A node whose agent is taken away when the test asks, and comes back."""
    yield
    probelet.choose_node(True)


@pytest.mark.usefixtures("without_agent")
def test_pods_of_a_node_whose_agent_is_gone_are_listed_and_new_ones_are_not_ready(
    cluster: Cluster, probelet: Installed, namespace: Namespace
) -> None:
    namespace.create(steady("old"))
    namespace.until_ready("old")
    assert coverage(cluster)[0] == 0
    probelet.choose_node(False)
    until(lambda: not probelet.agent_pods(), "the agent to go")
    namespace.create(steady("new"))
    namespace.until(lambda: namespace.pod("new")["status"].get("phase") == "Running", "the new pod to run")
    until(lambda: coverage(cluster)[0] == 1, "the Lease to expire", LEASE_SECONDS)
    listed = coverage(cluster)[1]
    assert all(f"{namespace.name}/{name}" in listed for name in ("old", "new"))
    assert (namespace.is_ready("old"), namespace.is_ready("new")) == (True, False)
    probelet.choose_node(True)
    namespace.until_ready("new")
    until(lambda: coverage(cluster)[0] == 0, "the Lease")
