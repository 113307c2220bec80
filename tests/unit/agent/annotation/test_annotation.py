"""The annotation: as first seen, edited later, broken, and with parts that do not count."""

import json
from typing import Any

import pytest
from probelet.beside.takeover.names import ENHANCED_LIVENESS, NOT_TAKEN_OVER_ANNOTATION, PROBES_ANNOTATION
from probelet.kube.kinds import PODS

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

READINESS = {"app": {"readinessProbe": EXEC}}
SMUGGLED = {"app": {"readinessProbe": {**EXEC, "exec": {"command": ["smuggled"]}}}}


def annotate(bare_node: AgentNode, name: str, value: str | None) -> None:
    """Somebody with the right to patch pods edits the annotation."""
    found = bare_node.api.get(PODS, "web", "default")
    assert found is not None
    kept = {key: text for key, text in found["metadata"]["annotations"].items() if key != name}
    written = kept if value is None else {**kept, name: value}
    bare_node.api.put(PODS, {**found, "metadata": {**found["metadata"], "annotations": written}})


def commands(bare_node: AgentNode) -> set[tuple[str, ...]]:
    return {tuple(call.cmd) for call in bare_node.runtime.called("exec_sync")}


@pytest.mark.parametrize("value", [json.dumps(SMUGGLED), "{}", "broken", None])
async def test_a_change_after_the_first_sight_is_ignored_with_one_event(node: AgentNode, value: str | None) -> None:
    node.run(made_pod(READINESS))
    await node.until(node.is_ready)
    annotate(node, PROBES_ANNOTATION, value)
    await node.until(lambda: node.events("ProbesChanged"))
    annotate(node, "unrelated", "x")
    probed = len(node.runtime.called("exec_sync"))
    await node.until(lambda: len(node.runtime.called("exec_sync")) > probed + 2)
    assert commands(node) == {("probe",)}
    assert len(node.events("ProbesChanged")) == 1
    assert node.is_ready()


async def test_it_is_ignored_by_the_next_agent_too(bare_node: AgentNode) -> None:
    async with bare_node.an_agent():
        bare_node.run(made_pod(READINESS))
        await bare_node.until(bare_node.is_ready)
    annotate(bare_node, PROBES_ANNOTATION, json.dumps(SMUGGLED))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.events("ProbesChanged"))
        await bare_node.for_seconds(5)
        assert commands(bare_node) == {("probe",)}


async def test_a_pod_that_was_first_seen_without_an_annotation_never_gets_one(bare_node: AgentNode) -> None:
    pod = made_pod()
    async with bare_node.an_agent():
        bare_node.run(pod)
        await bare_node.until(lambda: list((bare_node.folder / "pods").glob("*.json")))
    annotate(bare_node, PROBES_ANNOTATION, json.dumps(SMUGGLED))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.events("ProbesChanged"))
        await bare_node.for_seconds(5)
        assert commands(bare_node) == set()
        assert not bare_node.agent.pods.by_uid
        bare_node.api.remove(PODS, "web", "default")
        await bare_node.until(lambda: not list((bare_node.folder / "pods").glob("*.json")))


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ("{", "JSON"),
        ("[]", "probelet.dev/probes"),
        ('{"app": {"readinessProbe": {"tcpSocket": {"port": 1}, "later": 1}}}', "later"),
        ('{"app": {"readinessProbe": {"tcpSocket": {"port": 1, "host": "10.0.0.1"}}}}', "host"),
    ],
)
async def test_what_cannot_be_run_is_an_event_and_the_gate_stays_closed(
    node: AgentNode, annotation: str, said: str
) -> None:
    node.run(made_pod(annotation=annotation))
    await node.until(lambda: node.events("ProbesIgnored"))
    (message,) = node.events("ProbesIgnored")
    assert said in message
    await node.until(lambda: node.pod())
    assert node.pod()["problems"] == [message]
    await node.until(node.condition)
    condition = node.condition()
    assert (condition["status"], condition["message"]) == ("False", "containers with unready status: [app]")
    assert not node.pod()["ready"]
    assert not node.runtime.called("exec_sync")


async def test_an_entry_of_an_unknown_container_is_an_event_and_hides_no_other(node: AgentNode) -> None:
    node.run(made_pod({"nobody": {"readinessProbe": EXEC}, "app": {"readinessProbe": EXEC}}))
    await node.until(node.is_ready)
    (message,) = node.events("ProbesIgnored")
    assert 'the pod has no container "nobody"' in message


async def test_an_entry_whose_native_probe_is_in_the_spec_is_the_kubelets(node: AgentNode) -> None:
    containers: list[dict[str, Any]] = [{"name": "app", "image": "i", "livenessProbe": {"tcpSocket": {"port": 1}}}]
    node.run(made_pod({"app": {"livenessProbe": EXEC, "readinessProbe": EXEC}}, containers=containers))
    await node.until(node.is_ready)
    assert [list(found["probes"]) for found in node.pod()["containers"]] == [["readiness"]]
    (message,) = node.events("ProbesIgnored")
    assert "livenessProbe" in message


async def test_a_liveness_probe_of_enhanced_liveness_never_kills_here(node: AgentNode) -> None:
    pod = made_pod({"app": {"livenessProbe": EXEC, "startupProbe": EXEC}}, annotations={ENHANCED_LIVENESS: "true"})
    node.run(pod)
    await node.until(node.is_ready)
    assert [list(found["probes"]) for found in node.pod()["containers"]] == [["startup"]], "its start is the agent's"
    assert any("enhanced liveness" in message for message in node.events("ProbesIgnored"))


async def test_the_reason_of_a_pod_that_stays_native_is_an_event(node: AgentNode) -> None:
    reason = "probes of container app name a host"
    node.run(made_pod(annotations={NOT_TAKEN_OVER_ANNOTATION: reason}))
    await node.until(lambda: node.events("ProbesNotTakenOver"))
    assert node.events("ProbesNotTakenOver") == [reason]


async def test_a_named_port_that_does_not_resolve_is_a_prober_error_and_no_result(node: AgentNode) -> None:
    probe = {"httpGet": {"path": "/", "port": "nowhere"}, "periodSeconds": 1, "failureThreshold": 1}
    node.run(made_pod({"app": {"readinessProbe": probe, "livenessProbe": probe}}))
    await node.until(lambda: node.events("Unhealthy"))
    assert any("nowhere" in message for message in node.events("Unhealthy"))
    await node.for_seconds(5)
    assert not node.is_ready()
    assert not node.stopped(), "a prober error is no failure"


async def test_variables_of_the_container_are_expanded_and_kept_only_then(node: AgentNode) -> None:
    env = [{"name": "NAME", "value": "secret"}, {"name": "REF", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]
    containers: list[dict[str, Any]] = [{"name": "app", "image": "i", "env": env}]
    plain = {"app": {"readinessProbe": EXEC}}
    expanded = {"app": {"readinessProbe": {**EXEC, "exec": {"command": ["check", "$(NAME)", "$(REF)"]}}}}
    node.run(made_pod(plain, name="plain", containers=containers))
    node.run(made_pod(expanded, name="expanded", containers=containers))
    await node.until(lambda: node.is_ready("plain") and node.is_ready("expanded"))
    assert ("check", "secret", "") in commands(node)
    kept = {json.loads(path.read_text())["name"]: path.read_text() for path in (node.folder / "pods").glob("*.json")}
    assert "secret" in kept["expanded"]
    assert "secret" not in kept["plain"]


async def test_the_file_of_a_pod_of_a_megabyte_is_small(node: AgentNode) -> None:
    pod = made_pod(READINESS, annotations={"last-applied": "x" * 400_000})
    pod["spec"]["volumes"] = [{"name": f"v{index}", "configMap": {"name": "y" * 250}} for index in range(2000)]
    assert len(json.dumps(pod)) > 900_000
    node.run(pod)
    await node.until(node.is_ready)
    (path,) = (node.folder / "pods").glob("*.json")
    assert path.stat().st_size < 4096
    assert path.stat().st_mode & 0o777 == 0o600
