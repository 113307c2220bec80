"""The probes of a thousand pods time out at the same moment: only these pods are killed, and no healthy pod is."""

from pathlib import Path

import pytest
import yaml
from probelet.testing import VirtualNode

PODS = 1_000
WELL = 50
"""The number of healthy pods, whose probes begin at the same moments."""

PROBE = {"httpGet": {"port": 80}, "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3}


@pytest.fixture
def node(tmp_path: Path) -> VirtualNode:
    def pod(name: str) -> dict[str, object]:
        container = {"name": "app", "image": "i", "livenessProbe": PROBE, "readinessProbe": PROBE}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}

    names = [f"late{number}" for number in range(PODS)] + [f"well{number}" for number in range(WELL)]
    manifest = tmp_path / "pods.yaml"
    manifest.write_text(yaml.dump_all([pod(name) for name in names], Dumper=yaml.CSafeDumper))
    node = VirtualNode(manifest)
    for name in names[:PODS]:
        node.answer(f"{name}/app/liveness", "success", "timeout * 3", "success")
        node.answer(f"{name}/app/readiness", "success", "timeout * 3", "success")
    return node


def test_every_pod_that_times_out_is_killed_once_and_recovers_and_no_healthy_pod_is_killed(node: VirtualNode) -> None:
    node.run("2m")
    assert sorted(kill.container for kill in node.kills) == sorted(f"late{number}/app" for number in range(PODS))
    assert all(node.restarts(f"late{number}/app") == 1 for number in range(PODS))
    assert all(node.ready(f"late{number}") for number in range(PODS))
    assert all(node.restarts(f"well{number}/app") == 0 and node.ready(f"well{number}") for number in range(WELL))
    late = [attempt for attempt in node.attempts if attempt.outcome == "timeout"]
    assert len(late) == 2 * 3 * PODS
    assert all(attempt.took == pytest.approx(1) for attempt in late)
    unhealthy = [event for event in node.events if event.reason == "Unhealthy"]
    assert not [event for event in unhealthy if "well" in event.pod]
