"""The condition Ready: the containers, then the readiness gates, in the kubelet's words."""

from typing import Any

import msgspec
import pytest
from probelet.policy.status.ready_condition import ReadyCondition, ready_condition
from probelet.spec.model.pod import Pod

from tests.unit.node.scripted_node import ScriptedNode, make_manifest

GATES = [{"conditionType": "example.com/lb"}, {"conditionType": "example.com/dns"}]


async def test_a_pod_with_an_unmet_gate_is_not_ready_though_its_containers_are(node: ScriptedNode) -> None:
    node.service.pods.set([make_manifest(readinessGates=GATES), make_manifest("plain")])
    await node.until(lambda: node.pod("plain").get("ready") and node.container().get("ready"))
    assert not node.pod()["ready"]
    assert (node.pod()["ready_reason"], node.pod()["ready_message"]) == (
        "ReadinessGatesNotReady",
        'corresponding condition of pod readiness gate "example.com/lb" does not exist., '
        'corresponding condition of pod readiness gate "example.com/dns" does not exist.',
    )
    assert (node.pod("plain")["ready_reason"], node.pod("plain")["ready_message"]) == ("", "")


def pod(conditions: list[dict[str, str]] | None = None, **spec: Any) -> Pod:
    status = {} if conditions is None else {"status": {"conditions": conditions}}
    spec = {"containers": [{"name": "a"}, {"name": "b"}], **spec}
    return msgspec.convert({"metadata": {"name": "web"}, "spec": spec, **status}, Pod)


def status(phase: str = "Running", *, ready: bool = False, **rows: bool) -> dict[str, Any]:
    return {
        "phase": phase,
        "ready": ready,
        "containers": [{"name": name, "ready": is_ready} for name, is_ready in rows.items() if name != "side"],
        "init_containers": [{"name": name, "ready": is_ready} for name, is_ready in rows.items() if name == "side"],
    }


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([{"type": "example.com/lb", "status": "True"}, {"type": "example.com/dns", "status": "True"}], ""),
        (
            [{"type": "example.com/lb", "status": "False"}, {"type": "example.com/dns", "status": "True"}],
            'the status of pod readiness gate "example.com/lb" is not "True", but False',
        ),
    ],
)
def test_a_manifest_may_bring_conditions_of_its_own(conditions: list[dict[str, str]], expected: str) -> None:
    gated = pod(conditions, readinessGates=GATES)
    found = ready_condition(gated, status(ready=True, a=True, b=True))
    assert (found.ready, found.message) == (not expected, expected)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ({}, ReadyCondition(False, "UnknownContainerStatuses")),
        (status("Failed", a=False, b=False), ReadyCondition(False, "PodFailed")),
        (status("Succeeded", a=False, b=False), ReadyCondition(False, "PodCompleted")),
        (
            status(a=True, b=False, side=False),
            ReadyCondition(False, "ContainersNotReady", "containers with unready status: [side b]"),
        ),
    ],
)
def test_containers_come_before_gates(of: dict[str, Any], expected: ReadyCondition) -> None:
    sidecar = {"name": "side", "restartPolicy": "Always"}
    gated = pod(readinessGates=GATES, initContainers=[{"name": "setup"}, sidecar])
    assert ready_condition(gated, of) == expected
