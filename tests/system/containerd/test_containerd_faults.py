"""containerd ends and returns: containers keep running, and no probe fails because of the outage."""

import signal

import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.system.containerd.machine import Containerd, until
from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

PROBE = {"exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 1}
APP = {
    "name": "app",
    "command": ["sh", "-c", "touch /tmp/alive; trap 'exit 0' TERM; sleep 86400 & wait"],
    "livenessProbe": PROBE,
}
EXIT_SECONDS = 20.0
"""Longer than a shim tries to report an exit."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_of_the_runtime_restarts_no_container(node: ContainerdNode, number: signal.Signals) -> None:
    node.run("web", APP, terminationGracePeriodSeconds=1)
    node.start()
    node.until(lambda: node.container("web").get("probes", {}).get("liveness", {}).get("runs", 0) >= 2, "probes")
    before = node.container("web")
    node.containerd.kill(number)
    try:
        node.until(lambda: node.container("web")["probes"]["liveness"]["errors"] >= 2, "probes that cannot be asked")
        row = node.container("web")
        assert (row["container_id"], row["state"]) == (before["container_id"], "running")
        assert row["probes"]["liveness"]["result"] == "Success"
        assert "probelet_runtime_up 0" in node.metrics()
    finally:
        node.containerd.run()
    runs = node.container("web")["probes"]["liveness"]["runs"]
    node.until(lambda: node.container("web")["probes"]["liveness"]["runs"] >= runs + 3, "probes that pass again")
    after = node.container("web")
    assert (after["container_id"], after["restart_count"]) == (before["container_id"], 0)
    assert "probelet_runtime_up 1" in node.metrics()
    # Its own probe failures still kill the container.
    node.execute("web", "rm", "/tmp/alive")
    node.until(lambda: node.container("web")["restart_count"] == 1, "a restart for a failure")


def test_a_container_that_ends_during_an_outage_restarts_after_the_outage(node: ContainerdNode) -> None:
    node.run("web", {**APP, "livenessProbe": None}, terminationGracePeriodSeconds=1)
    node.start()
    node.until(lambda: node.container("web")["ready"], "a ready container")
    container_id = node.container("web")["container_id"]
    pid = node.containerd.pid_of(container_id)
    node.containerd.kill()
    try:
        node.containerd.command("kill", "-9", str(pid))
    finally:
        node.containerd.run()
    follow_the_exit(node.containerd, container_id)
    node.until(lambda: node.container("web")["restart_count"] == 1 and node.container("web")["ready"], "its restart")
    # containerd 1.6 asks the shim; 2.x reports 255 for an exit that happened while it did not run.
    assert node.container("web")["last_exit"]["exit_code"] in (137, 255)


def follow_the_exit(containerd: Containerd, container_id: str) -> None:
    """containerd may lose an exit that reaches it while it starts: it then lists the container as running for ever, and
    cannot stop it (github.com/containerd/containerd/issues/10390). At its next start it asks the shim again."""

    def has_ended() -> bool:
        running = [row.id for row in containerd.containers() if row.state == api_pb2.CONTAINER_RUNNING]
        return not any(container_id.endswith(found) for found in running)

    try:
        until(has_ended, "the container's exit", EXIT_SECONDS)
    except RuntimeError:
        containerd.kill()
        containerd.run()
