"""What an agent notices of incidents: pods with their workloads, kills of its own, ends, and events about the node."""

from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.daemon.asked_hosts import asked_hosts
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not well")
DATABASE = {**EXEC, "exec": {"command": ["pg_isready", "-h", "db"]}, "failureThreshold": 3}
ALONE = {**EXEC, "failureThreshold": 3}


@pytest_asyncio.fixture
async def watching(bare_node: AgentNode) -> AsyncIterator[AgentNode]:
    """A node whose agent notices incidents."""
    async with bare_node.an_agent(incidents=asked_hosts):
        yield bare_node


def owned(name: str, probe: dict[str, object], **others: dict[str, object]) -> dict[str, object]:
    """A pod of the Deployment ``name``."""
    pod = made_pod({"app": {"readinessProbe": probe, **others}}, name=f"{name}-5f9c-x2x9z")
    pod["metadata"]["labels"] = {"pod-template-hash": "5f9c"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-5f9c", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    return pod


def all_ready(node: AgentNode, count: int) -> bool:
    """Whether the agent knows so many pods, and all of them are ready."""
    ready = [pod.readiness.ready for pod in node.agent.pods.by_uid.values()]
    return len(ready) == count and all(ready)


async def test_three_workloads_whose_commands_ask_one_host_are_one_incident(watching: AgentNode) -> None:
    for name in ("cart", "orders", "web"):
        watching.run(owned(name, DATABASE))
    for name in ("mail", "search", "stock"):
        watching.run(owned(name, ALONE))
    await watching.until(lambda: all_ready(watching, 6))
    watching.runtime.exec_answers["pg_isready", "-h", "db"] = FAILS
    feed = watching.agent.view.incidents
    await watching.until(lambda: feed.document()["open"])
    [found] = feed.document()["open"]
    assert (found["kind"], found["shared"], found["value"]) == ("shared", "target", "db")
    assert found["counts"]["workloads"] == 3
    assert "default/Deployment/cart" in found["evidence"]
    await watching.until(lambda: watching.events("IncidentBegan"))
    assert b'probelet_incident_open{kind="shared"} 1' in watching.agent.view.metrics()
    watching.runtime.exec_answers.clear()
    await watching.until(lambda: not feed.document()["open"])
    await watching.until(lambda: watching.events("IncidentEnded"))


async def test_an_incident_of_the_node_is_an_event_about_the_node(watching: AgentNode) -> None:
    for name in ("cart", "mail", "orders", "search", "web"):
        watching.run(owned(name, ALONE, livenessProbe={**ALONE, "failureThreshold": 30}))
    await watching.until(lambda: all_ready(watching, 5))
    # Each liveness probe has succeeded too: what has never been well is not a change.
    await watching.for_seconds(2)
    watching.runtime.exec_answers["probe",] = FAILS
    feed = watching.agent.view.incidents
    # As long as the liveness probes of some pods have not failed too, their workloads may share something.
    await watching.until(lambda: [each["kind"] for each in feed.document()["open"]] == ["node"])
    await watching.until(lambda: watching.events("IncidentBegan"))
