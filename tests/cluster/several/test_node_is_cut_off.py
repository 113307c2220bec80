"""A node loses its network and nothing else: what it can do alone goes on, what others decide waits."""

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances import pods
from tests.cluster.guarded.stage import Stage, failing, steady
from tests.cluster.node import FurtherNode
from tests.cluster.several.test_node_vanishes import GONE_SECONDS, is_given_up
from tests.cluster.several.workloads import on
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

KILLED_SECONDS = 200.0
"""The kubelet's back-off is up to a minute and a half by then."""


@pytest.fixture
def node(cluster: Cluster) -> Iterator[FurtherNode]:
    """The node that is cut off; after the test it is there again."""
    node = cluster.nodes[-1]
    assert isinstance(node, FurtherNode)
    yield node
    if not node.is_on:
        node.reconnect()


def test_its_agent_goes_on_killing_what_is_its_own_and_the_controller_restarts_nothing_until_it_is_back(
    stage: Stage, node: FurtherNode
) -> None:
    cluster, namespace = stage.cluster, stage.namespace
    stage.enhanced.settings(enabled="false")
    for thing in (pods.failing("own"), pods.steady("well")):
        namespace.create(on(node.name, thing))
    stage.run(on(node.name, failing("there")), on(node.name, steady("steady")))
    stage.until(lambda: stage.state("there") == "Failed", "the failure to be published")
    namespace.until_ready("well")
    left_alone = {stage.container(name) for name in ("there", "steady", "well")}
    node.cut_off()
    until(lambda: is_given_up(cluster, node), f"{node.name} to be given up", GONE_SECONDS)
    stage.enhanced.settings(enabled="true")

    # Its own runtime alone can say so: the API server learns of nothing.
    def running() -> set[str]:
        return set(node.runtime.running("app", namespace.name))

    before = running()
    until(lambda: running() - before, "its own pod's container to be started again", KILLED_SECONDS)
    started = running() - before
    until(lambda: not running() & started, "and to be killed again", KILLED_SECONDS)
    assert left_alone <= running()
    assert stage.requests() == []
    node.reconnect()
    until(cluster.node_is_ready, f"{node.name} to be ready again")
    stage.until(lambda: stage.restarts("there"), "the restart that waited")
    namespace.until_ready("well")
    assert [stage.restarts(name) for name in ("steady", "well")] == [0, 0]
    stage.no_container_was_asked_for_twice({"own": stage.restarts("own")})
