"""The agent beside the probes that the webhook made for the kubelet: a startup probe, and the fallback of liveness."""

import json
from typing import Any

from probelet.beside.takeover import FALLBACK_ANNOTATION, MADE_ANNOTATION, MANAGED_LABEL
from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.enhanced.asking import ask, entry, is_state, probe
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode
from tests.unit.beside.takeover.pods import called

FAILS = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"no")
LIVE = {**EXEC, "exec": {"command": ["live"]}}
READY = {**EXEC, "exec": {"command": ["ready"]}}
HOOK = {"postStart": {"exec": {"command": ["hook"]}}}


def admitted(annotations: dict[str, str] | None = None, **container: Any) -> dict[str, Any]:
    """A pod as the webhook lets it in."""
    app = {"name": "app", "image": "i", "livenessProbe": LIVE, "readinessProbe": READY, **container}
    asks = made_pod(containers=[app], annotations=annotations)
    asks["metadata"]["labels"] = {MANAGED_LABEL: "true"}
    return called(asks)[0]


def commands(bare_node: AgentNode) -> set[str]:
    return {call.cmd[0] for call in bare_node.runtime.called("exec_sync")}


async def test_a_container_that_hangs_in_its_start_up_is_killed_though_the_kubelet_waits_for_its_first_answer(
    node: AgentNode,
) -> None:
    node.runtime.exec_answers["ready",] = FAILS
    node.runtime.exec_answers["live",] = FAILS
    (app,) = node.run(admitted(), started=False)
    await node.until(node.stopped)
    assert node.stopped()[0][0] == app


async def test_a_startup_probe_of_its_own_is_waited_for(node: AgentNode) -> None:
    pod = admitted(startupProbe={"exec": {"command": ["starts"]}})
    node.run(pod, started=False)
    await node.for_seconds(5)
    assert commands(node) == set()
    node.write_status(pod)
    await node.until(lambda: commands(node) == {"live", "ready"})


async def test_it_begins_with_the_status_that_follows_the_post_start_hook(node: AgentNode) -> None:
    pod = admitted(lifecycle=HOOK)
    node.create(pod)
    node.kubelet.start(pod)
    await node.for_seconds(5)
    assert commands(node) == set(), "a kubelet writes no status of a container whose hook runs"
    node.write_status(pod, started=False)
    await node.until(lambda: commands(node) == {"live", "ready"})


async def test_the_runtime_alone_begins_it_while_the_api_server_is_away(node: AgentNode) -> None:
    pod = admitted()
    node.create(pod)
    await node.until(node.pod)
    await node.api.refuse()
    node.kubelet.start(pod)
    await node.until(lambda: commands(node) == {"live", "ready"})


async def test_who_names_the_startup_probe_of_a_pod_afterwards_changes_nothing(node: AgentNode) -> None:
    pod = admitted(startupProbe={"exec": {"command": ["starts"]}, "failureThreshold": 2147483647})
    node.run(pod, started=False)
    await node.until(node.pod)
    found = node.api.get(PODS, "web", "default")
    assert found is not None
    annotations = {**found["metadata"]["annotations"], MADE_ANNOTATION: '{"app":["startupProbe"]}'}
    node.api.put(PODS, {**found, "metadata": {**found["metadata"], "annotations": annotations}})
    await node.for_seconds(5)
    assert commands(node) == set()


async def test_the_fallback_is_the_kubelets_and_the_agent_kills_first(node: AgentNode) -> None:
    pod = admitted({FALLBACK_ANNOTATION: "10m"})
    assert pod["spec"]["containers"][0]["livenessProbe"]["failureThreshold"] == 600
    node.run(pod)
    await node.until(node.is_ready)
    assert [list(each["probes"]) for each in node.pod()["containers"]] == [["liveness", "readiness"]]
    assert node.events("ProbesIgnored") == []
    node.runtime.exec_answers["live",] = FAILS
    await node.until(node.stopped)


async def test_a_liveness_probe_of_enhanced_liveness_does_not_wait_for_the_made_startup_probe(node: AgentNode) -> None:
    pod = admitted({"apps.kruise.io/using-enhanced-liveness": "true"}, livenessProbe=None)
    assert "startupProbe" in pod["spec"]["containers"][0]
    node.run(pod, started=False)
    ask(node, entry(pod, probe("live", exec={"command": ["live"]}, periodSeconds=1)))
    await node.until(lambda: is_state(node, "Succeeded", "live"))


async def test_an_agent_closes_the_gate_of_a_new_instance_before_it_asks(bare_node: AgentNode) -> None:
    pod = admitted()
    async with bare_node.an_agent():
        (first,) = bare_node.run(pod)
        await bare_node.until(bare_node.is_ready)
    bare_node.runtime.exit(first, 137)
    bare_node.restart(pod)
    asked = len(bare_node.runtime.called("exec_sync"))
    closed: list[int] = []
    bare_node.api.store.listeners.append(
        lambda: closed.append(len(bare_node.runtime.called("exec_sync"))) if not bare_node.is_ready() else None
    )
    async with bare_node.an_agent():
        await bare_node.until(lambda: closed)
        assert closed[0] == asked, "the gate closed before the first attempt"
        await bare_node.until(bare_node.is_ready)


async def test_a_pod_that_was_created_while_the_webhook_was_away_gets_an_event_once(bare_node: AgentNode) -> None:
    asks = made_pod(containers=[{"name": "app", "image": "i", "readinessProbe": READY}])
    asks["metadata"]["labels"] = {MANAGED_LABEL: "true"}
    async with bare_node.an_agent():
        bare_node.run(asks)
        await bare_node.until(lambda: bare_node.events("ProbesNotTakenOver"))
    async with bare_node.an_agent():
        await bare_node.for_seconds(3)
    (said,) = bare_node.events("ProbesNotTakenOver")
    assert "no webhook answered when it was created" in said
    assert json.loads(next((bare_node.folder / "pods").glob("*.json")).read_text())["annotation"] is None
