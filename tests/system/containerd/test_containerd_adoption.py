"""Containers outlive probelet: the next probelet adopts them, ends removed pods, and reads counts from the runtime."""

import signal

import pytest

from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

ALIVE = {"exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 1}
READY = {"exec": {"command": ["true"]}, "periodSeconds": 1, "timeoutSeconds": 30}
APP = {
    "name": "app",
    "command": ["sh", "-c", "touch /tmp/alive; trap 'exit 0' TERM; sleep 86400 & wait"],
    "livenessProbe": ALIVE,
    "readinessProbe": READY,
}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_probelet_adopts_containers_with_their_counts_and_continues_to_restart_them(
    node: ContainerdNode, number: signal.Signals
) -> None:
    crashing = {"name": "crashing", "command": ["sh", "-c", "test -e /tmp/x; echo life; exit 7"]}
    node.run("web", APP, crashing, terminationGracePeriodSeconds=1)
    node.start()
    node.until(lambda: node.container("web")["ready"], "a ready container")
    node.until(lambda: node.container("web", "crashing")["reason"] == "CrashLoopBackOff", "the back-off")
    first = node.container("web")
    node.execute("web", "rm", "/tmp/alive")
    node.until(lambda: node.container("web")["restart_count"] == 1 and node.container("web")["ready"], "a restart")
    before = node.container("web")
    assert before["container_id"] != first["container_id"]
    assert node.signal(number) == (-number if number == signal.SIGKILL else 0)
    running = {found.id for found in node.containerd.containers()}
    assert before["container_id"].partition("://")[2] in running

    node.start()
    node.until(lambda: node.container("web")["ready"], "the adopted container")
    after = node.container("web")
    assert after["container_id"] == before["container_id"]
    assert (after["restart_count"], after["last_exit"]["exit_code"]) == (1, 0)
    # Like a new kubelet, a new probelet has no back-off: it starts the container at once and continues the count.
    node.until(lambda: node.container("web", "crashing")["restart_count"] >= 2, "a count that goes on")
    node.until(lambda: (node.container("web", "crashing")["last_exit"] or {}).get("exit_code") == 7, "its last exit")
    node.execute("web", "rm", "/tmp/alive")
    node.until(lambda: node.container("web")["restart_count"] == 2, "a restart that counts on")


def test_probelet_applies_the_changes_made_while_it_did_not_run(node: ContainerdNode) -> None:
    node.run("kept", APP, terminationGracePeriodSeconds=1)
    node.run("changed", APP, terminationGracePeriodSeconds=1)
    node.run("removed", APP, terminationGracePeriodSeconds=1)
    node.start()
    names = ("kept", "changed", "removed")
    node.until(lambda: all(node.container(name)["ready"] for name in names), "three ready pods")
    ids = {name: node.container(name)["container_id"] for name in names}
    node.signal(signal.SIGKILL)
    node.remove("removed")
    node.run("changed", {**APP, "env": [{"name": "A", "value": "b"}]}, terminationGracePeriodSeconds=1)

    node.start("--drain")
    node.until(lambda: node.container("changed")["ready"] and node.container("kept")["ready"], "two ready pods")
    assert node.container("kept")["container_id"] == ids["kept"]
    assert node.container("changed")["container_id"] != ids["changed"]

    def left() -> int:
        return sum(1 for found in node.containerd.containers() if found.labels["io.kubernetes.pod.name"] in names)

    node.until(lambda: left() == 2, "what nobody claims to be ended")
    node.until(lambda: len(list(node.logs.iterdir())) == 2, "their logs to be gone")
    assert node.signal(signal.SIGTERM) == 0
    assert left() == 0


def test_a_container_that_ends_while_probelet_does_not_run_is_restarted_once(node: ContainerdNode) -> None:
    node.run("web", APP, terminationGracePeriodSeconds=1)
    node.start()
    node.until(lambda: node.container("web")["ready"], "a ready container")
    pid = node.containerd.pid_of(node.container("web")["container_id"])
    node.signal(signal.SIGKILL)
    node.containerd.command("kill", "-9", str(pid))

    node.start()
    node.until(lambda: node.container("web")["restart_count"] == 1 and node.container("web")["ready"], "its restart")
    assert node.container("web")["last_exit"]["exit_code"] == 137
    ours = [found for found in node.containerd.containers() if found.labels["io.kubernetes.pod.name"] == "web"]
    assert sorted(found.annotations["io.kubernetes.container.restartCount"] for found in ours) == ["0", "1"]
