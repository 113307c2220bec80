"""Leaders that are killed one after the other while most pods fail: that writes and restarts nothing."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.kube import kinds
from probelet.kube.connection import PAGE
from probelet.kube.kind import Kind

from tests.support.kube_api import Answer, Delay
from tests.unit.controller.scripted_cluster import FAST, Running, ScriptedCluster
from tests.unit.kube.virtual_clock import SECOND

ELEVEN = tuple(f"web-{number:02}" for number in range(11))


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster() as cluster:
        cluster.workload(replicas=11)
        cluster.settings(FAST)
        # The pods of enhanced liveness are on the second page of the list.
        for number in range(PAGE):
            cluster.api.put(kinds.PODS, {"metadata": {"name": f"other-{number}", "namespace": "a"}, "spec": {}})
        yield cluster


async def mapped(cluster: ScriptedCluster, *nodes: str) -> None:
    """Eleven pods on these nodes, mapped by the first leader; ten fail."""
    for node in nodes:
        cluster.node(node)
    first = await cluster.controller("0")
    for number, name in enumerate(ELEVEN):
        cluster.pod(name, nodes[number % len(nodes)])
    await cluster.until(lambda: sum(len(cluster.mapped(node)) for node in nodes) == 11)
    await cluster.ready(first)
    fail(cluster, *nodes)
    await cluster.pass_seconds(10)
    await first.kill()


def fail(cluster: ScriptedCluster, *nodes: str) -> None:
    for node in nodes:
        cluster.publish(*ELEVEN[1:], node=node)


def versions(cluster: ScriptedCluster, *nodes: str) -> list[str]:
    return [cluster.probes(node)["metadata"]["resourceVersion"] for node in nodes]


def written(cluster: ScriptedCluster) -> int:
    """How often controllers have written NodePodProbes."""
    return sum(cluster.api.seen(verb, "nodepodprobes") for verb in ("create", "update", "patch", "delete"))


async def leading(cluster: ScriptedCluster, controller: Running) -> None:
    await cluster.until(lambda: controller.service._leading is not None, step_ns=SECOND)


async def lead(cluster: ScriptedCluster, name: str, late: tuple[Kind, int] | None) -> None:
    """A new controller leads for longer than it gathers failures, and is killed. ``late``: a list of this kind comes
    late, after so many of its pages."""
    over = asyncio.Event()
    if late is not None:
        kind, skip = late
        cluster.api.faults.add(Delay(over), "list", kind.plural, skip=skip)
    controller = await cluster.controller(name)
    await leading(cluster, controller)
    if late is not None:
        await cluster.pass_seconds(2)
        assert (controller.service.why_not_ready or "").endswith(f": {kind.resource}")
    over.set()
    await cluster.ready(controller)
    await cluster.pass_seconds(7)
    await controller.kill()


LATE: tuple[tuple[Kind, int] | None, ...] = (
    None,
    (kinds.PODS, 0),
    (kinds.PODS, 1),
    (kinds.NODES, 0),
    (kinds.POD_DISRUPTION_BUDGETS, 0),
)


@pytest.mark.parametrize("leaders", [2 * len(LATE), pytest.param(20, marks=pytest.mark.slow)])
async def test_many_leaders_in_a_row_change_nothing_and_restart_nothing(cluster: ScriptedCluster, leaders: int) -> None:
    """The breaker of the node holds all ten."""
    await mapped(cluster, "node-1")
    writes, events = written(cluster), cluster.events("ELPProbeMapped")
    assert (len(events), cluster.requests) == (11, [])
    for number in range(leaders):
        fail(cluster, "node-1")
        before = versions(cluster, "node-1")
        await lead(cluster, str(number + 1), LATE[number % len(LATE)])
        assert (versions(cluster, "node-1"), written(cluster)) == (before, writes)
        assert cluster.requests == []
    assert cluster.events("ELPProbeMapped") == events


async def test_leaders_in_a_row_make_no_request_beyond_that_of_the_first(cluster: ScriptedCluster) -> None:
    """The breaker of the workload lets one restart go at a time."""
    nodes = [f"node-{number}" for number in range(4)]
    await mapped(cluster, *nodes)
    writes, [request] = written(cluster), cluster.requests
    cluster.set_status(kinds.CONTAINER_RECREATE_REQUESTS, request["metadata"]["name"], {"phase": "Recreating"})
    for number in range(4):
        fail(cluster, *nodes)
        before = versions(cluster, *nodes)
        await lead(cluster, str(number + 1), LATE[number % len(LATE)])
        assert (versions(cluster, *nodes), written(cluster)) == (before, writes)
        assert [each["metadata"]["uid"] for each in cluster.requests] == [request["metadata"]["uid"]]


@pytest.mark.parametrize("plural", ["pods", "nodes"])
async def test_a_list_that_fails_for_minutes_after_a_410_takes_no_entry(cluster: ScriptedCluster, plural: str) -> None:
    await mapped(cluster, "node-1")
    controller = await cluster.controller("1")
    await cluster.ready(controller)
    writes = written(cluster)
    cluster.api.faults.add(Answer(410, reason="Expired"), "watch", plural)
    cluster.api.faults.add(Answer(500), "list", plural, times=None)
    await cluster.api.refuse()
    await cluster.api.accept()
    await cluster.until(lambda: (controller.service.why_not_ready or "").endswith(f": {plural}"))
    cluster.api.remove(kinds.PODS, ELEVEN[0], "default")
    cluster.api.remove(kinds.NODE_POD_PROBES, "node-1")
    end = cluster.clock.now() + 180 * SECOND
    await cluster.until(lambda: cluster.clock.now() >= end, step_ns=3 * SECOND)
    assert written(cluster) == writes, "what is not known is not written"
    cluster.api.faults.clear()
    await cluster.until(lambda: tuple(cluster.mapped()) == ELEVEN[1:])
    assert (written(cluster), cluster.requests) == (writes + 1, [])
