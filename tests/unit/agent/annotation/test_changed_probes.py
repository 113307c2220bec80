"""Annotations that change of a pod that asked for it when it came: its probes change, and no container restarts."""

import json
from typing import Any

import pytest
from probelet.beside.takeover.names import MADE_ANNOTATION, PROBES_ANNOTATION
from probelet.kube.kinds import PODS

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

CHANGES = "probelet.dev/probe-changes"
OPTIONS = "probelet.dev/probe-options"
LIVE = {CHANGES: "live"}


def asking(command: str, **fields: Any) -> dict[str, Any]:
    return {"app": {"readinessProbe": {**EXEC, "exec": {"command": [command]}, **fields}}}


def annotate(node: AgentNode, **written: str) -> None:
    found = node.api.get(PODS, "web", "default")
    assert found is not None
    annotations = {**found["metadata"]["annotations"], **written}
    node.api.put(PODS, {**found, "metadata": {**found["metadata"], "annotations": annotations}})


def commands(node: AgentNode) -> set[tuple[str, ...]]:
    return {tuple(call.cmd) for call in node.runtime.called("exec_sync")}


ALLOWED: dict[str, Any] = {"probe_changes": True, "probe_options": {}}
"""What a node allows."""


async def test_another_probe_is_made_from_now_on_and_by_the_next_agent(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(**ALLOWED):
        bare_node.run(made_pod(asking("old"), annotations=LIVE))
        await bare_node.until(bare_node.is_ready)
        annotate(bare_node, **{PROBES_ANNOTATION: json.dumps(asking("new"))})
        await bare_node.until(lambda: ("new",) in commands(bare_node))
        assert bare_node.events("ProbesChanged") == [
            "readinessProbe of container app changed (exec); what was counted stays"
        ]
        assert bare_node.pod()["containers"][0]["probes"]["readiness"]["changed_at"]
        await bare_node.until(lambda: "new" in kept(bare_node))
    bare_node.runtime.calls.clear()
    async with bare_node.an_agent(**ALLOWED):
        await bare_node.until(lambda: len(bare_node.runtime.called("exec_sync")) >= 3)
        assert commands(bare_node) == {("new",)}
        assert len(bare_node.events("ProbesChanged")) == 1


def kept(node: AgentNode) -> str:
    (path,) = (node.folder / "pods").glob("*.json")
    return path.read_text()


async def test_options_of_its_probes_change_too(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(**ALLOWED):
        bare_node.run(made_pod(asking("probe"), annotations=LIVE))
        await bare_node.until(bare_node.is_ready)
        options = {"app": {"readinessProbe": {"failures": {"of": 5, "at": 2}}}}
        annotate(bare_node, **{OPTIONS: json.dumps(options)})
        await bare_node.until(lambda: "options" in bare_node.pod()["containers"][0]["probes"]["readiness"])
        assert bare_node.events("ProbesChanged") == [
            "readinessProbe of container app changed (options); what was counted stays"
        ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (OPTIONS, '{"app": {"readinessProbe": {"failures": {"of": 3, "at": 4}}}}', ".app.readinessProbe.failures.at"),
        (OPTIONS, '{"app": {"readinessProbe": {"periodMilliseconds": 1}}}', ".periodMilliseconds"),
        (PROBES_ANNOTATION, "broken", "JSON"),
        (PROBES_ANNOTATION, json.dumps({"nobody": {"readinessProbe": EXEC}}), 'no container "nobody"'),
    ],
)
async def test_a_mistake_is_one_event_and_the_pod_keeps_its_probes(
    bare_node: AgentNode, name: str, value: str, said: str
) -> None:
    async with bare_node.an_agent(**ALLOWED):
        bare_node.run(made_pod(asking("probe"), annotations=LIVE))
        await bare_node.until(bare_node.is_ready)
        annotate(bare_node, **{name: value})
        await bare_node.until(lambda: bare_node.events("ProbesIgnored"))
        annotate(bare_node, unrelated="x")
        probed = len(bare_node.runtime.called("exec_sync"))
        await bare_node.until(lambda: len(bare_node.runtime.called("exec_sync")) > probed + 2)
        (message,) = bare_node.events("ProbesIgnored")
        assert said in message
        assert message.endswith("; the pod keeps the probes that it has")
        assert (commands(bare_node), bare_node.is_ready(), bare_node.events("ProbesChanged")) == (
            {("probe",)},
            True,
            [],
        )


@pytest.mark.parametrize(("allowed", "first"), [(False, LIVE), (True, {})])
async def test_neither_the_node_nor_the_pod_alone_allows_it(
    bare_node: AgentNode, allowed: bool, first: dict[str, str]
) -> None:
    async with bare_node.an_agent(**{**ALLOWED, "probe_changes": allowed}):
        bare_node.run(made_pod(asking("old"), annotations=first))
        await bare_node.until(bare_node.is_ready)
        annotate(bare_node, **{PROBES_ANNOTATION: json.dumps(asking("new")), **LIVE})
        await bare_node.until(lambda: bare_node.events("ProbesChanged"))
        await bare_node.for_seconds(3)
        assert commands(bare_node) == {("old",)}
        assert "the change is ignored" in bare_node.events("ProbesChanged")[0]


async def test_no_other_annotation_counts_later(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(**ALLOWED):
        bare_node.run(made_pod(asking("old"), annotations=LIVE))
        await bare_node.until(bare_node.is_ready)
        made = json.dumps({"app": ["startupProbe"]})
        annotate(bare_node, **{PROBES_ANNOTATION: json.dumps(asking("new")), MADE_ANNOTATION: made})
        await bare_node.until(lambda: "new" in kept(bare_node))
        assert MADE_ANNOTATION not in kept(bare_node)
