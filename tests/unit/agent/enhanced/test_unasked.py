"""Probes that the annotation of their pod does not ask for: a writer of the NodePodProbe has nothing of his own run."""

from typing import Any

import pytest
from probelet.kube.kinds import PODS

from tests.unit.agent.enhanced.asking import (
    FAILS,
    annotate,
    ask,
    commands,
    entry,
    handler,
    is_state,
    probe,
    state,
)
from tests.unit.agent.made_pod import made_pod
from tests.unit.agent.scripted_agent import AgentNode

COMMAND = "its command does not stand in the pod's annotation apps.kruise.io/container-probe-context"
REQUEST = COMMAND.replace("command", "request")
FOREIGN: dict[str, Any] = {"exec": {"command": ["rm", "-rf", "/"]}, "periodSeconds": 1}


async def test_a_command_of_somebody_else_never_runs_and_is_one_event(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    annotate(node, entry(pod, probe()))
    ask(node, entry(pod, probe(), handler("foreign", **FOREIGN)), annotated=False)
    await node.until(lambda: is_state(node, "Unknown", "foreign") and is_state(node, "Succeeded"))
    assert state(node, "foreign")["message"] == COMMAND
    await node.for_seconds(60)
    assert {tuple(call.cmd) for call in node.runtime.called("exec_sync")} == {("probe",)}
    assert node.events("ELPProbeRefused") == [f"probe foreign does not run: {COMMAND}"]
    assert b"probelet_elp_probes_refused_total 1" in node.agent.view.metrics()


@pytest.mark.parametrize(
    "foreign",
    [
        {"httpGet": {"path": "/admin/shutdown", "port": 80}},
        {"httpGet": {"path": "/", "port": 81}},
        {"httpGet": {"path": "/", "port": 80, "httpHeaders": [{"name": "Authorization", "value": "x"}]}},
        {"httpGet": {"path": "/", "port": 80, "scheme": "HTTPS"}},
        {"tcpSocket": {"port": 80}},
        {"grpc": {"port": 80}},
    ],
)
async def test_a_request_that_is_another_one_is_never_made(node: AgentNode, foreign: dict[str, Any]) -> None:
    pod = made_pod()
    node.run(pod)
    annotate(node, entry(pod, handler(httpGet={"path": "/", "port": 80})))
    ask(node, entry(pod, handler(**foreign)), annotated=False)
    await node.until(lambda: state(node).get("message"))
    assert (state(node)["state"], state(node)["message"]) == ("Unknown", REQUEST)
    assert not node.engines, "nothing runs"


async def test_the_command_of_one_container_runs_in_no_other(node: AgentNode) -> None:
    pod = made_pod(containers=[{"name": "app", "image": "i"}, {"name": "other", "image": "i"}])
    node.run(pod)
    annotate(node, entry(pod, probe()))
    ask(node, entry(pod, probe(container="other")), annotated=False)
    await node.until(lambda: state(node).get("message") == COMMAND)
    await node.for_seconds(3)
    assert commands(node) == 0


@pytest.mark.parametrize("annotation", [None, "", "{", '[{"name": "app", "livenessProbe": 7}]'])
async def test_an_annotation_that_is_not_there_or_cannot_be_read_asks_for_nothing(
    node: AgentNode, annotation: str | None
) -> None:
    annotations = {} if annotation is None else {"apps.kruise.io/container-probe-context": annotation}
    pod = made_pod(annotations=annotations)
    node.run(pod)
    ask(node, entry(pod, probe()), annotated=False)
    await node.until(lambda: state(node).get("message") == COMMAND)
    assert commands(node) == 0


async def test_how_often_it_runs_and_what_counts_is_the_clusters_to_say(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["probe",] = FAILS
    node.run(pod)
    annotate(node, entry(pod, probe(periodSeconds=100, failureThreshold=100, timeoutSeconds=9, initialDelaySeconds=99)))
    ask(node, entry(pod, probe()), annotated=False)
    await node.until(lambda: is_state(node, "Failed"))


async def test_a_named_port_is_the_number_that_the_container_gives_it(node: AgentNode) -> None:
    ports = [{"name": "web", "containerPort": node.api.port}]
    pod = made_pod(containers=[{"name": "app", "image": "i", "ports": ports}])
    node.run(pod)
    annotate(node, entry(pod, handler(tcpSocket={"port": "web"})))
    quick = {"periodSeconds": 1, "failureThreshold": 1}
    ask(node, entry(pod, handler(tcpSocket={"port": node.api.port}, **quick)), annotated=False)
    await node.until(lambda: is_state(node, "Succeeded"))
    ask(node, entry(pod, handler(tcpSocket={"port": 1}, **quick)), annotated=False)
    await node.until(lambda: state(node).get("message") == REQUEST)


async def test_a_change_of_annotation_and_object_in_any_order_is_no_event(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    other = entry(pod, handler(exec={"command": ["other"]}, periodSeconds=1))
    ask(node, other, annotated=False)
    await node.until(lambda: is_state(node, "Unknown"))
    annotate(node, other)
    await node.until(lambda: is_state(node, "Succeeded"))
    annotate(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Unknown"))
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    await node.for_seconds(30)
    assert node.events("ELPProbeRefused") == []


async def test_a_probe_that_runs_stops_when_its_pod_no_longer_asks_for_it(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    annotate(node, entry(pod))
    await node.until(lambda: state(node).get("message") == COMMAND)
    ran = commands(node)
    await node.for_seconds(5)
    assert commands(node) == ran


async def test_beside_openkruise_its_markers_ask_too(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(is_kruise_here=True):
        pod = made_pod()
        bare_node.run(pod)
        ask(bare_node, entry(pod, probe()), annotated=False)
        await bare_node.until(lambda: is_state(bare_node, "Succeeded"))


async def test_before_the_pod_is_known_nothing_runs_and_nothing_is_said(node: AgentNode) -> None:
    pod = made_pod()
    node.kubelet.start(pod)
    ask(node, entry(pod, probe()), annotated=False)
    await node.for_seconds(20)
    assert commands(node) == 0
    assert node.events("ELPProbeRefused") == []
    assert node.api.get(PODS, "web", "default") is None
