"""A kubelet that starts anew takes a container in its start-up for started; what the agent found out stays."""

import signal

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import STEADY, managed
from tests.cluster.disturbances.scene import (
    Scene,
    each_failure_killed_once,
    never_ready,
    nothing_was_killed_that_should_live,
    stayed_ready,
)
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.pods.make import answers, container, pod
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

NATIVE, UNREADY = "native", "unready"


def test_a_kubelet_that_restarts_makes_no_container_ready_that_has_never_been(
    cluster: Cluster, scene: Scene, namespace: Namespace
) -> None:
    endless = answers("s", "500", failureThreshold=1000, periodSeconds=10)
    namespace.create(pod(NATIVE, container(startupProbe=endless)))
    namespace.create(managed(pod(UNREADY, container(readinessProbe=answers("r", "500")))))
    namespace.until(lambda: _started(namespace) is False, "the native container to be in its start-up")
    scene.until_old()
    cluster.kubelet.stop(signal.SIGKILL)
    cluster.kubelet.start()
    # kubernetes/kubernetes#142305: its startup probe has not succeeded, and yet it is ready.
    namespace.until_ready(NATIVE)
    until(cluster.node_is_ready, "the node to be ready")
    scene.until_killed()
    # The pod that starts has a startup probe of the kubelet's, which takes it for passed as well, and good answers to
    # its readiness probe: it is Ready, and not looked at here.
    scene.until_steady()
    seen = scene.end()
    nothing_was_killed_that_should_live(seen)
    assert each_failure_killed_once(seen) > 0
    assert never_ready(seen, UNREADY)
    assert not never_ready(seen, NATIVE)
    assert all(stayed_ready(seen, name) for name in STEADY)


def _started(namespace: Namespace) -> object:
    statuses = namespace.pod(NATIVE)["status"].get("containerStatuses") or [{}]
    return statuses[0].get("started") if "running" in statuses[0].get("state", {}) else None
