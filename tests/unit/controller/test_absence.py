"""`agent.unreadyAfter` on an API server: gates close, and the agent opens them when it is back."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from probelet.beside.takeover.names import CONDITION, FIELD_MANAGER
from probelet.controller.absence import AbsenceReconciler
from probelet.controller.metrics import ControllerMetrics
from probelet.controller.pod_mirror import PodMirror
from probelet.host.tasks import Tasks
from probelet.kube import kinds
from probelet.kube.events.writer import EventWriter

from tests.support.kube_api import Answer
from tests.unit.controller.scripted_cluster import NAMESPACE, ScriptedCluster
from tests.unit.kube.virtual_clock import SECOND

MINUTE = 60 * SECOND


class Nodes(ScriptedCluster):
    """Taken-over pods, and agents that renew their Leases."""

    def taken(self, name: str, node: str, status: str = "True") -> None:
        condition = {"type": CONDITION, "status": status, "lastTransitionTime": self.at()}
        meta = {"name": name, "namespace": "default", "annotations": {"probelet.dev/probes": "{}"}}
        status_of_pod = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}, condition]}
        self.api.put(kinds.PODS, {"metadata": meta, "spec": {"nodeName": node}, "status": status_of_pod})

    def renew(self, node: str) -> None:
        meta = {"name": f"probelet-agent-{node}", "namespace": NAMESPACE}
        self.api.put(kinds.LEASES, {"metadata": meta, "spec": {"renewTime": self.at()}})

    def gate(self, name: str) -> Any:
        pod = self.api.get(kinds.PODS, name, "default")
        assert pod is not None
        return next(one for one in pod["status"]["conditions"] if one["type"] == CONDITION)

    async def minutes(self, count: int, *renewing: str) -> None:
        """Let time go by in halves of a minute; the agents of these nodes renew their Leases meanwhile."""
        for _ in range(2 * count):
            for node in renewing:
                self.renew(node)
            await self.quiet()
            self.clock.advance(MINUTE // 2)
        await self.quiet()


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Nodes]:
    async with Nodes() as cluster:
        for node in ("node-1", "node-2"):
            cluster.renew(node)
        cluster.taken("on-1", "node-1")
        cluster.taken("on-2", "node-2")
        yield cluster


@pytest.fixture
def metrics() -> ControllerMetrics:
    return ControllerMetrics()


@pytest_asyncio.fixture
async def reconciler(cluster: Nodes, metrics: ControllerMetrics) -> AsyncIterator[AbsenceReconciler]:
    """The reconciler by itself, without an election that would lose its lease in the long times of these tests."""
    async with cluster.api.connection() as connection, asyncio.TaskGroup() as group:
        tasks = Tasks()
        events = EventWriter(connection, "probelet-controller", "test", cluster.clock)
        pods = PodMirror(connection, cluster.clock, lambda uid, pod: None, lambda connected: None)
        reconciler = AbsenceReconciler(connection, NAMESPACE, cluster.clock, events, metrics, tasks, pods)
        running = [group.create_task(run) for run in (events.run(), reconciler.run(), pods.run(), tasks.failure())]
        reconciler.configure(5 * MINUTE)
        reconciler.begin()
        await cluster.api.watched(2)
        yield reconciler
        for task in running:
            task.cancel()
        await tasks.close()


@pytest.mark.usefixtures("reconciler")
async def test_the_pods_of_a_silent_node_become_unready_and_say_why(cluster: Nodes, metrics: ControllerMetrics) -> None:
    await cluster.minutes(4, "node-2")
    assert cluster.gate("on-1")["status"] == "True"
    await cluster.minutes(2, "node-2")
    gate = cluster.gate("on-1")
    assert (gate["status"], gate["reason"]) == ("False", "AgentAbsent")
    assert gate["message"] == (
        "the agent of node node-1 has not renewed its Lease for 5m0s, so the probes of this pod are not made"
    )
    assert cluster.gate("on-2")["status"] == "True"
    await cluster.until(lambda: cluster.events("AgentAbsent") != [])
    [event] = cluster.events("AgentAbsent")
    assert event["involvedObject"]["name"] == "node-1"
    assert event["message"].endswith("pods that become unready: 1")
    assert 'outcome="done"} 1' in metrics.render(None).decode()


@pytest.mark.usefixtures("reconciler")
async def test_an_agent_that_is_back_owns_the_whole_condition_again(cluster: Nodes) -> None:
    await cluster.minutes(6, "node-2")
    assert cluster.gate("on-1")["status"] == "False"
    async with cluster.api.connection() as agent:
        condition = {"type": CONDITION, "status": "True", "lastTransitionTime": cluster.at()}
        body = {"metadata": {"name": "on-1", "namespace": "default"}, "status": {"conditions": [condition]}}
        await agent.apply(kinds.PODS, body, subresource="status", manager=FIELD_MANAGER)
    assert cluster.gate("on-1").keys() == {"type", "status", "lastTransitionTime"}
    await cluster.minutes(3, "node-2")
    assert cluster.gate("on-1")["status"] == "True", "an agent that writes lives, even if its Lease does not say so"


@pytest.mark.usefixtures("reconciler")
async def test_an_api_server_that_was_away_makes_no_pod_unready(cluster: Nodes) -> None:
    await cluster.api.refuse()
    await cluster.minutes(10)
    watches = cluster.api.seen("watch")
    await cluster.api.accept()
    await cluster.until(lambda: cluster.api.seen("watch") >= watches + 2)
    await cluster.minutes(4)
    assert cluster.gate("on-1")["status"] == "True"
    await cluster.minutes(2, "node-2")
    assert cluster.gate("on-1")["status"] == "False"


@pytest.mark.usefixtures("reconciler")
async def test_a_write_that_is_refused_is_tried_again(cluster: Nodes, metrics: ControllerMetrics) -> None:
    cluster.api.faults.add(Answer(403), "apply", "pods", times=2)
    await cluster.minutes(6, "node-2")
    assert cluster.gate("on-1")["status"] == "False"
    assert (
        'probelet_elp_writes_total{resource="pods",verb="unready",outcome="failed"} 2' in metrics.render(None).decode()
    )


async def test_off_closes_no_gate_and_a_change_counts_at_once(cluster: Nodes, reconciler: AbsenceReconciler) -> None:
    reconciler.configure(None)
    await cluster.minutes(10)
    assert cluster.gate("on-1")["status"] == "True"
    reconciler.configure(MINUTE)
    await cluster.minutes(3)
    assert cluster.gate("on-1")["status"] == "False"


async def test_the_key_of_the_config_map_reaches_it_and_the_leader_keeps_its_lease_beside_all_watches(
    cluster: Nodes,
) -> None:
    cluster.settings({"agent.unreadyAfter": "1m"})
    controller = await cluster.controller()
    await cluster.ready(controller)
    leading = controller.service._leading
    await cluster.until(lambda: cluster.gate("on-1")["status"] == "False", step_ns=SECOND)
    assert controller.service._leading is leading
