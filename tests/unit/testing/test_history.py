"""What a VirtualNode tells about the past: events, changes of status, a timeline, and its ``repr``."""

import pytest
from probelet.testing import Event, Transition, VirtualNode

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    livenessProbe: {httpGet: {port: 80}, periodSeconds: 10, failureThreshold: 2, terminationGracePeriodSeconds: 3}
    readinessProbe: {httpGet: {port: 80}, periodSeconds: 5, failureThreshold: 1}
"""


@pytest.fixture
def node() -> VirtualNode:
    """A node whose pod ``web`` is killed once, 10 s after t = 0. The grace of its probe ends 3 s later."""
    node = VirtualNode(POD, kill="1h")
    node.answer("web/app/liveness", "failure 0ms: stuck\x1b[2J * 2", "success 0ms")
    node.answer("web/app/readiness", "success 0ms")
    node.run("15s")
    return node


def test_the_events_are_those_of_probes_and_of_containers(node: VirtualNode) -> None:
    killing = "Container app failed liveness probe, will be restarted"
    assert [(event.at, event.reason) for event in node.events if event.at > 0] == [
        (10, "Unhealthy"),
        (10, "Killing"),
        (13, "Created"),
        (13, "Started"),
    ]
    assert Event(10, "web", "Killing", killing, "Normal", "app") in node.events
    assert {event.container for event in node.events} == {"app"}


def test_the_transitions_are_the_changes_of_the_status(node: VirtualNode) -> None:
    ready = [change for change in node.transitions if change.subject == "web"]
    assert ready == [
        Transition(0, "web", "ready", True),
        Transition(13, "web", "ready", False),
        Transition(13, "web", "ready", True),
    ]
    node.crash("web/app")
    states = [(change.at, change.value) for change in node.transitions if change.field == "state"]
    assert states == [(0, "running"), (15, "terminated"), (15, "running")]


def test_the_timeline_has_a_printable_line_for_each_of_them(node: VirtualNode) -> None:
    lines = node.timeline().splitlines()
    assert "     0.000 s  web/app  running, started, ready" in lines
    assert r"    10.000 s  web/app  Unhealthy: Liveness probe failed: stuck\x1b[2J" in lines
    assert "    10.000 s  web/app  is killed by its liveness probe" in lines
    assert lines.index("    13.000 s  web  not ready") < lines.index("    13.000 s  web  ready") == len(lines) - 1
    assert node.timeline(last=1).splitlines() == [f"... {len(lines) - 1} earlier lines", lines[-1]]


def test_the_repr_is_one_line_and_lets_nothing_happen() -> None:
    node = VirtualNode([POD.replace("web", name) for name in ("a", "b", "c", "d", "e")])
    assert repr(node).startswith("<VirtualNode at 0s: a not ready (restarts: 0), b not ready")
    assert node.events == []
    node.run("1m30s")
    assert repr(node) == (
        "<VirtualNode at 1m30s: a ready (restarts: 0), b ready (restarts: 0), c ready (restarts: 0), 2 more pods>"
    )
