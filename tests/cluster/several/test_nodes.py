"""The nodes of these tests themselves: each has its own kubelet, runtime and network, and they reach each other."""

import pytest

from tests.cluster.cluster import Cluster, condition
from tests.cluster.namespace import Namespace
from tests.cluster.node import FurtherNode
from tests.cluster.several.workloads import on
from tests.kubelet.beside.pods.make import answers, container, pod
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

PORT = 8080
GONE_SECONDS = 120.0
"""The controller manager waits 50 s for a kubelet's sign of life."""


def test_pods_of_all_nodes_reach_each_other_and_the_api_server_reaches_them(
    cluster: Cluster, namespace: Namespace
) -> None:
    names = {node.name: f"on-{node.name}" for node in cluster.nodes}
    for place, name in names.items():
        namespace.create(on(place, pod(name, container(readinessProbe=answers("r", "200")))))
    for name in names.values():
        namespace.until_ready(name)
    found = {name: namespace.pod(name) for name in names.values()}
    for node in cluster.nodes:
        assert found[names[node.name]]["status"]["hostIP"] == node.address
        # The kubelet of the pod's node answers both.
        assert '"what"' in cluster.kubectl("logs", names[node.name], "-n", namespace.name)
        for other in found.values():
            url = f"http://{other['status']['podIP']}:{PORT}/answer/x/200"
            words = ["exec", names[node.name], "-n", namespace.name, "--", "wget", "-q", "-O", "-", url]
            assert "200" in cluster.kubectl(*words)


def test_a_node_that_is_switched_off_is_not_ready_and_comes_back_with_its_pods(
    cluster: Cluster, namespace: Namespace
) -> None:
    node = cluster.nodes[-1]
    assert isinstance(node, FurtherNode)
    namespace.create(on(node.name, pod("web", container(readinessProbe=answers("r", "200")))))
    namespace.until_ready("web")
    before = namespace.pod("web")["status"]["containerStatuses"][0]["containerID"]
    node.switch_off()
    path = f"/api/v1/nodes/{node.name}"
    until(lambda: condition(cluster.api.get(path), "Ready") == "Unknown", "the node to be given up", GONE_SECONDS)
    namespace.until(lambda: not namespace.is_ready("web"), "its pod to be given up")
    node.switch_on()
    until(cluster.node_is_ready, "the node to be ready again")
    namespace.until_ready("web")
    (status,) = namespace.pod("web")["status"]["containerStatuses"]
    assert (status["restartCount"], status["containerID"] != before) == (1, True)
