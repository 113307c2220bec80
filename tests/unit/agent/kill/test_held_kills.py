"""An agent's liveness kills wait while an incident is open that a restart does not mend."""

import pytest
from probelet.daemon.asked_hosts import asked_hosts
from probelet.policy.node.kill_gate import HoldOptions
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.annotation.hold_kills import ANNOTATION
from probelet.spec.text.duration import SECOND

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not well")
DATABASE = {**EXEC, "exec": {"command": ["pg_isready", "-h", "db"]}, "failureThreshold": 4}
NAMES = ("cart", "orders", "web")


def asks_the_database(name: str, annotation: str = "") -> dict[str, object]:
    """A pod of the Deployment ``name``, both of whose probes ask the database."""
    pod = made_pod({"app": {"readinessProbe": DATABASE, "livenessProbe": DATABASE}}, name=f"{name}-5f9c-x2x9z")
    pod["metadata"]["labels"] = {"pod-template-hash": "5f9c"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-5f9c", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    if annotation:
        pod["metadata"]["annotations"][ANNOTATION] = annotation
    return pod


def ready(node: AgentNode, count: int) -> bool:
    found = [pod.readiness.ready for pod in node.agent.pods.by_uid.values()]
    return len(found) == count and all(found)


def held(node: AgentNode) -> dict[str, str]:
    """The incidents for whose end the pods' kills wait, by the status document."""
    document = node.agent.view.status().document()
    rows = [(pod["name"], row) for pod in document["pods"] for row in pod["containers"]]
    return {name: row["held"]["what"] for name, row in rows if "held" in row}


async def began(node: AgentNode, *, annotation: str = "") -> None:
    """Three pods are well; then the database fails."""
    for name in NAMES:
        node.run(asks_the_database(name, annotation))
    await node.until(lambda: ready(node, 3))
    await node.for_seconds(3)
    node.runtime.exec_answers["pg_isready", "-h", "db"] = FAILS


async def test_one_kill_goes_on_and_the_others_wait_until_their_containers_answer(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(incidents=asked_hosts, hold_kills=HoldOptions("shared")):
        await began(bare_node)
        await bare_node.until(lambda: len(held(bare_node)) == 2)
        assert set(held(bare_node).values()) == {"shared target db"}
        await bare_node.until(lambda: len(bare_node.stopped()) == 1)
        await bare_node.until(lambda: len(bare_node.events("KillHeld")) == 2)
        await bare_node.for_seconds(20)
        assert len(bare_node.stopped()) == 1
        assert b"probelet_kills_held 2" in bare_node.agent.view.metrics()
        bare_node.runtime.exec_answers.clear()
        await bare_node.until(lambda: not held(bare_node))
        assert b'probelet_kills_held_total{end="recovered"} 2' in bare_node.agent.view.metrics()
        assert len(bare_node.stopped()) == 1


async def test_no_kill_waits_longer_than_the_bound(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(incidents=asked_hosts, hold_kills=HoldOptions("shared", 10 * SECOND)):
        await began(bare_node)
        await bare_node.until(lambda: len(held(bare_node)) == 2)
        await bare_node.until(lambda: len(bare_node.stopped()) == 3)
        assert b'probelet_kills_held_total{end="killed"} 2' in bare_node.agent.view.metrics()


@pytest.mark.parametrize(("annotation", "kills"), [("", 3), ("shared", 1), ("nonsense", 3)])
async def test_without_the_opt_in_a_pod_decides(bare_node: AgentNode, annotation: str, kills: int) -> None:
    async with bare_node.an_agent(incidents=asked_hosts):
        await began(bare_node, annotation=annotation)
        await bare_node.until(lambda: len(bare_node.stopped()) == kills)
        await bare_node.for_seconds(10)
        assert len(bare_node.stopped()) == kills
    problems = [problem for pod in bare_node.agent.pods.by_uid.values() for problem in pod.problems]
    said = f'metadata.annotations[{ANNOTATION}]: Unsupported value: "nonsense": supported values: off, prober, shared'
    assert problems == ([said] * 3 if annotation == "nonsense" else [])


async def test_without_incidents_nothing_waits(bare_node: AgentNode) -> None:
    async with bare_node.an_agent(hold_kills=HoldOptions("shared")):
        await began(bare_node)
        await bare_node.until(lambda: len(bare_node.stopped()) == 3)
        assert held(bare_node) == {}
