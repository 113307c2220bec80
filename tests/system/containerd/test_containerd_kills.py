"""probelet and containerd are killed at random instants while pods come up, crash and are probed."""

import random
import signal
import time
from collections import Counter

import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.system.containerd.node import ContainerdNode

# Longer than the wait of `until`, whose error contains the service's log.
pytestmark = pytest.mark.e2e

ROUNDS = 6
SLEEP = ["sh", "-c", "touch /tmp/alive; trap 'exit 0' TERM; sleep 86400 & wait"]
PROBE = {"exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 1, "timeoutSeconds": 30}


def instances(node: ContainerdNode, name: str) -> list[tuple[str, int]]:
    """Running instances of a container, with the restart count that the runtime keeps."""
    return [
        (found.id, int(found.annotations["io.kubernetes.container.restartCount"]))
        for found in node.containerd.containers()
        if found.labels["io.kubernetes.container.name"] == name and found.state == api_pb2.CONTAINER_RUNNING
    ]


def test_no_kill_restarts_a_healthy_container(node: ContainerdNode) -> None:
    rng = random.Random(7)
    node.run("well", {"name": "well", "command": SLEEP, "livenessProbe": PROBE, "readinessProbe": PROBE})
    node.run("crashing", {"name": "crashing", "command": ["sh", "-c", "sleep 0.2; exit 1"]})
    node.start()
    node.until(lambda: node.pod("well")["ready"], "a ready pod")
    first = instances(node, "well")
    for number in range(ROUNDS):
        node.run(f"late{number}", {"name": f"late{number}", "command": SLEEP, "readinessProbe": PROBE})
        time.sleep(rng.random())
        node.signal(signal.SIGKILL)
        if number % 3 == 0:
            node.containerd.kill()
            node.containerd.run()
        node.start()
    late = [f"late{number}" for number in range(ROUNDS)]
    node.until(lambda: all(node.pod(name)["ready"] for name in [*late, "well"]), "all pods to be ready")
    assert instances(node, "well") == first
    for name in late:
        ((_, count),) = instances(node, name)
        assert count == node.container(name, name)["restart_count"]
    names = Counter(found.metadata.name for found in node.sandboxes())
    assert [name for name in late if names[name] != 1] == []
    # Each new probelet starts the back-off anew, so the second restart may be 10 s away.
    node.until(lambda: node.container("crashing", "crashing")["restart_count"] >= 2, "a second restart")
