"""Logs on a real containerd: read by the verb, rotated through ReopenContainerLog."""

import signal

import pytest

from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

TICKING = ["sh", "-c", "n=0; while :; do n=$((n+1)); echo tick $n; sleep 0.01; done"]


def test_a_growing_log_is_rotated_and_no_line_is_lost(node: ContainerdNode) -> None:
    node.configure("containerLogMaxSize: 4Ki", "containerLogMaxFiles: 4", "containerLogMonitorInterval: 3s")
    node.run("web", {"name": "app", "command": TICKING})
    node.start()
    node.until(lambda: list(node.logs.glob("*/app/0.log.*.gz")), "a part that is compressed")
    ticks = [int(line.split()[1]) for line in node.verb("logs", "web").splitlines()]
    assert ticks == list(range(1, len(ticks) + 1))
    assert len(node.verb("logs", "web", "--tail", "5").splitlines()) == 5
    assert node.signal(signal.SIGTERM) == 0
    # The pod stays with the runtime, and so does its log.
    assert node.verb("logs", "web", "--from", str(node.logs), "--tail", "1").startswith("tick ")
