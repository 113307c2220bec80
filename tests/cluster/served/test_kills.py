"""The prober of a kubelet is killed, or hangs, or the kubelet is killed. The new one gets all from the other one."""

import signal

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import steady
from tests.cluster.disturbances.scene import Scene, nobody_noticed
from tests.cluster.namespace import Namespace
from tests.cluster.served.prober import ServedProber
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

KILLS = 3


def test_a_killed_service_turns_no_condition_and_restarts_no_healthy_container(
    cluster: Cluster, prober: ServedProber, restore: str, scene: Scene
) -> None:
    # Without a journal the service is like a kubelet that starts anew, which forgets that a young container is ready.
    scene.until_old()
    for _ in range(KILLS):
        prober.kill(forget=restore != "full")
        prober.start(cluster, restore)
        scene.until_killed()
    scene.until_steady()
    nobody_noticed(scene.end(), KILLS)


@pytest.mark.parametrize("restore", ["kubelet"], indirect=True)
@pytest.mark.usefixtures("restore")
def test_a_killed_kubelet_finds_each_probe_as_it_was(cluster: Cluster, scene: Scene) -> None:
    # A kubelet with a prober of its own would take the container in its start-up for started.
    for _ in range(KILLS):
        cluster.kubelet.stop(signal.SIGKILL)
        cluster.kubelet.start()
        until(cluster.node_is_ready, "the node to be ready")
        scene.until_killed()
    scene.until_steady()
    # A hook that ran when the kubelet died is run again, as by any kubelet.
    nobody_noticed(scene.end(), KILLS, hooks=(1, 2))


@pytest.mark.parametrize("restore", ["kubelet"], indirect=True)
@pytest.mark.usefixtures("restore")
def test_a_service_that_hangs_keeps_no_pod_from_its_start(
    prober: ServedProber, namespace: Namespace, scene: Scene
) -> None:
    prober.program.hang()
    namespace.create(steady("new"))
    namespace.until(lambda: namespace.pod("new")["status"].get("phase") == "Running", "a new pod to run")
    prober.program.go_on()
    namespace.until_ready("new")
    for _ in range(KILLS):
        scene.until_killed()
    scene.until_steady()
    nobody_noticed(scene.end(), KILLS)
