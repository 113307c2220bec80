"""Probes with options on a VirtualNode: it plays them with the same core as a node."""

import json
from typing import Any

import pytest
from probelet.errors import ManifestError
from probelet.testing import VirtualNode

HTTP = {"httpGet": {"port": 80}, "periodSeconds": 10}


def node(options: Any, probe: str = "livenessProbe", **fields: int) -> VirtualNode:
    """A node with the pod ``web``, whose container ``app`` has one probe with ``options``."""
    annotations = {"probelet.dev/probe-options": json.dumps({"app": {probe: options}})}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [{"name": "app", probe: HTTP | fields}]}
    return VirtualNode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": annotations}, "spec": spec}
    )


def killed(node: VirtualNode) -> list[float]:
    return [event.at for event in node.events if event.reason == "Killing"]


def tries(node: VirtualNode) -> list[float]:
    return [event.at for event in node.events if event.reason == "Unhealthy"]


def test_failures_that_are_not_in_a_row_kill() -> None:
    flapping = node({"failures": {"of": 10, "at": 4}})
    flapping.answer("web/app/liveness", *["success 0ms", "failure 0ms: no"] * 4, "success 0ms")
    flapping.run("2m")
    assert killed(flapping) == [70]


def test_errors_in_a_row_become_failures() -> None:
    lost = node({"errors": {"failureAfter": 2}})
    lost.answer("web/app/liveness", "success 0ms", "error 0ms: gone * 12", "success 0ms")
    lost.run("2m")
    assert killed(lost) == [40], "the second to fourth error are failures"


def test_a_container_is_ready_a_moment_after_it_answers() -> None:
    quick = node({"untilReady": "100ms"}, "readinessProbe")
    quick.answer("web/app/readiness", "failure 0ms: not yet * 10", "success 0ms")
    quick.run("1m")
    ready = [change.at for change in quick.transitions if change.subject == "web" and change.value is True]
    assert 0.5 < ready[0] <= 1, "some of the ten failures are those of the first syncs"


def test_after_a_failure_the_next_come_sooner() -> None:
    failing = node({"whenFailing": "1s"})
    failing.answer("web/app/liveness", "success 0ms * 2", "failure 0ms: no * 3", "success 0ms")
    failing.run("1m")
    assert tries(failing) == [20, 21, 22]
    assert killed(failing) == [22]


def test_a_mistake_in_the_options_is_a_mistake_in_the_manifest() -> None:
    with pytest.raises(ManifestError, match=r"probe-options\]\.app\.livenessProbe\.failures\.at: Invalid value: 4: "):
        node({"failures": {"of": 3, "at": 4}})
