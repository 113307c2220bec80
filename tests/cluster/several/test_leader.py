"""The leading controller is on another node than the pods, and its node may vanish."""

import pytest

from tests.cluster.guarded.stage import Stage, failing, steady
from tests.cluster.node import FurtherNode
from tests.cluster.several.workloads import node_of, on
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

TAKE_OVER_SECONDS = 60.0
KILLS_MAX = 5
FAILING = ("failing-1", "failing-2")


@pytest.fixture
def far_leader(stage: Stage) -> FurtherNode:
    """The node of the leader: one that can be switched off."""
    assert len({node_of(pod) for pod in stage.enhanced.controller_pods()}) > 1, "both controllers are on one node"

    def node() -> FurtherNode | None:
        found = stage.cluster.node(node_of(stage.enhanced.leading_pod()))
        return found if isinstance(found, FurtherNode) else None

    for _ in range(KILLS_MAX):
        if (found := node()) is not None:
            return found
        # A killed controller is a candidate again before its Lease has ended, and may win once more.
        before = stage.enhanced.leader()
        stage.enhanced.kill_leader()
        until(lambda: stage.enhanced.leader() not in ("", before), "another leader", TAKE_OVER_SECONDS)  # noqa: B023
    pytest.fail("no leader on a node that can be switched off")


def test_a_leader_restarts_pods_of_other_nodes_and_the_next_one_goes_on_when_its_node_vanishes(
    stage: Stage, far_leader: FurtherNode
) -> None:
    others = [node for node in stage.cluster.nodes if node is not far_leader]
    pods = [on(node.name, failing(name)) for name, node in zip(FAILING, others, strict=True)]
    stage.run(*pods, on(others[0].name, steady("steady")))
    stage.until_restarted(*FAILING)
    before = stage.enhanced.leader()
    far_leader.switch_off()
    try:
        until(lambda: stage.enhanced.leader() not in ("", before), "another leader", TAKE_OVER_SECONDS)
        assert node_of(stage.enhanced.leading_pod()) != far_leader.name
        stage.until_restarted(*FAILING)
    finally:
        far_leader.switch_on()
    until(stage.cluster.node_is_ready, f"{far_leader.name} to be ready again")
    stage.until_restarted(*FAILING)
    assert stage.restarts("steady") == 0
    stage.no_container_was_asked_for_twice()
