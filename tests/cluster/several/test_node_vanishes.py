"""A node loses its power: its pods are left to the node controller, and come back with it."""

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster, condition
from tests.cluster.control_plane.api import Object
from tests.cluster.disturbances.pods import steady as probed
from tests.cluster.endpoints import ready_endpoints
from tests.cluster.fifteen.pods import service
from tests.cluster.guarded.stage import Stage, failing
from tests.cluster.node import FurtherNode
from tests.cluster.several.workloads import on
from tests.cluster.status import LEASE_SECONDS, coverage
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

GONE_SECONDS = 120.0
"""The controller manager waits 50 s for a kubelet's sign of life."""
NOT_ANSWERED = "daemon has not responded for a long time"
"""OpenKruise's words."""
UNBEGUN_SECONDS = 150.0
"""The controller waits a minute for a node to begin a request."""


@pytest.fixture
def node(cluster: Cluster) -> Iterator[FurtherNode]:
    """The node that vanishes; after the test it is there again."""
    node = cluster.nodes[-1]
    assert isinstance(node, FurtherNode)
    yield node
    if not node.is_on:
        node.switch_on()


def failed_on(node: FurtherNode, stage: Stage) -> None:
    """A pod on the node, and one on another, whose failures are published while nothing is restarted."""
    stage.enhanced.settings(enabled="false")
    stage.run(on(node.name, failing("there")), on(stage.cluster.nodes[1].name, failing("here")))
    stage.until(lambda: stage.state("there") == stage.state("here") == "Failed", "both failures to be published")


def is_given_up(cluster: Cluster, node: FurtherNode) -> bool:
    return condition(cluster.api.get(f"/api/v1/nodes/{node.name}"), "Ready") == "Unknown"


def test_old_results_of_a_node_that_is_gone_restart_nothing_and_its_pods_are_listed(
    stage: Stage, node: FurtherNode
) -> None:
    cluster, namespace = stage.cluster, stage.namespace
    namespace.create(service("web"), "services")
    namespace.create(on(node.name, probed("web")))
    namespace.until_ready("web")
    stage.until(lambda: ready_endpoints(namespace, "web") == {"web"}, "the endpoint")
    failed_on(node, stage)
    assert coverage(cluster)[0] == 0
    node.switch_off()
    until(lambda: is_given_up(cluster, node), f"{node.name} to be given up", GONE_SECONDS)
    stage.until(lambda: not ready_endpoints(namespace, "web"), "the endpoint to go")
    until(lambda: coverage(cluster)[0] == 1, "the Lease of its agent to expire", LEASE_SECONDS)
    listed = coverage(cluster)[1]
    assert f"{namespace.name}/web" in listed
    assert "expired" in listed
    # What the node published last is a failure. The other pod shows that the controller has decided meanwhile.
    stage.enhanced.settings(enabled="true")
    stage.until_restarted("here")
    assert stage.requests("there") == []
    assert stage.state("there") == "Failed"
    node.switch_on()
    until(cluster.node_is_ready, f"{node.name} to be ready again")
    namespace.until_ready("web")
    stage.until(lambda: ready_endpoints(namespace, "web") == {"web"}, "the endpoint to be back")
    until(lambda: coverage(cluster)[0] == 0, "its agent's Lease")
    # The boot was one restart by the kubelet; from then on the probe's failures count again.
    stage.until(lambda: stage.restarts("there") >= 2, "a restart after the boot")
    stage.no_container_was_asked_for_twice({"there": 1, "web": 1})


def test_a_request_that_a_node_takes_with_it_ends_and_gives_its_place_in_the_budget_back(
    stage: Stage, node: FurtherNode
) -> None:
    """The controller cannot know in the first minute that the node is gone."""
    failed_on(node, stage)
    node.switch_off()
    stage.enhanced.settings(enabled="true")
    stage.until(lambda: stage.requests("there"), "a request for the node that is gone", GONE_SECONDS)
    (request,) = stage.requests("there")

    def ended() -> Object:
        (found,) = stage.requests("there")
        return found if found.get("status", {}).get("phase") == "Completed" else {}

    stage.until(ended, "the end of that request", UNBEGUN_SECONDS)
    assert ended()["status"].get("message") == NOT_ANSWERED
    assert stage.restarts("there") == 0
    until(lambda: is_given_up(stage.cluster, node), f"{node.name} to be given up", GONE_SECONDS)
    stage.until_restarted("here")
    assert [one["metadata"]["name"] for one in stage.requests("there")] == [request["metadata"]["name"]]
