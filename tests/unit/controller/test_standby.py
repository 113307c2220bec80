"""A controller that stands by: it reads what the leader reads, writes nothing, and takes over without a list."""

from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.beside.guard.names import OPT_IN
from probelet.kube.kinds import PODS

from tests.support.kube_api import Answer
from tests.unit.controller.scripted_cluster import FAST, Running, ScriptedCluster
from tests.unit.kube.virtual_clock import SECOND

OUT_FOR_NOTHING = '[{"userAgent":"ContainerRecreateRequest","key":"default/gone"}]'
READ = ("pods", "nodes", "nodepodprobes", "containerrecreaterequests", "poddisruptionbudgets", "statefulsets")


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster() as cluster:
        cluster.node("node-1")
        cluster.workload()
        cluster.settings(FAST)
        yield cluster


async def pair(cluster: ScriptedCluster) -> tuple[Running, Running]:
    """A leader, and one that stands by and has read everything."""
    leader = await cluster.controller("a")
    await cluster.ready(leader)
    other = await cluster.controller("b")
    await cluster.until(lambda: other.service.why_not_ready is None)
    return leader, other


def lists(cluster: ScriptedCluster) -> list[int]:
    return [cluster.api.seen("list", plural) for plural in READ]


async def failing(cluster: ScriptedCluster, *names: str) -> None:
    for name in names:
        cluster.pod(name)
    await cluster.until(lambda: set(names) <= set(cluster.mapped()))
    cluster.publish(*names)


async def test_a_change_of_leader_lists_nothing(cluster: ScriptedCluster) -> None:
    leader, other = await pair(cluster)
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])
    before = lists(cluster)
    await leader.kill()
    killed_ns = cluster.clock.now()
    await cluster.ready(other)
    assert lists(cluster) == before
    # 15 s until the Lease is free, and before and after them up to 4.4 s between two tries.
    assert cluster.clock.now() - killed_ns <= 25 * SECOND
    await failing(cluster, "web-0", "web-1")
    await cluster.until(lambda: len(cluster.requests) == 2)
    assert sorted(cluster.restarted) == ["web-0", "web-1"]


async def test_one_that_stands_by_writes_nothing_whatever_happens(cluster: ScriptedCluster) -> None:
    """It sees pods come, a failure, a request that no node begins, and a configuration with a mistake."""
    leader, other = await pair(cluster)
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])
    cluster.settings({"enabled": "maybe"})
    await cluster.pass_seconds(90)
    [request] = cluster.requests
    assert request["status"]["phase"] == "Completed"
    assert leader.count('probelet_elp_recreate_requests_given_up_total{reason="NotAnswered"}') == 1
    assert other.count('probelet_elp_recreate_requests_given_up_total{reason="NotAnswered"}') == 0
    assert "probelet_elp_writes_total{" not in other.metrics
    assert not any(other.count(f'probelet_elp_decisions_total{{reason="{each}"}}') for each in ("Queued", "Restarting"))
    assert len(cluster.events("ELPConfigurationInvalid")) == 1
    assert len(cluster.events("ELPRestartFailed")) == 1


def gate(cluster: ScriptedCluster, pod: str) -> str:
    """The status of a pod's condition that requests keep False."""
    found = cluster.api.get(PODS, pod, "default")
    assert found is not None
    [condition] = [each for each in found["status"]["conditions"] if each["type"] == "KruisePodReady"]
    return str(condition["status"])


async def test_while_nobody_leads_nothing_is_decided_or_managed_and_all_of_it_by_the_next_leader(
    cluster: ScriptedCluster,
) -> None:
    leader, other = await pair(cluster)
    cluster.pod("web-1")
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [] and "web-1" in cluster.mapped())
    cluster.api.faults.add(Answer(403), "update", "leases", times=None)
    await leader.kill()
    cluster.publish("web-0", "web-1")
    out = {"type": "KruisePodReady", "status": "False", "message": OUT_FOR_NOTHING}
    cluster.set_status(PODS, "out-0", {**cluster.pod("out-0", **{OPT_IN: "false"})["status"], "conditions": [out]})
    await cluster.pass_seconds(100)
    assert gate(cluster, "out-0") == "False"
    cluster.publish("web-0", "web-1")
    await cluster.pass_seconds(10)
    [request] = cluster.requests
    assert request.get("status", {}).get("phase", "") == "", "no node has begun it for a minute, and nobody ends it"
    cluster.api.faults.clear()
    await cluster.ready(other)
    await cluster.pass_seconds(9)
    assert sorted(cluster.restarted) == ["web-0", "web-1"]
    assert cluster.requests[0]["status"]["phase"] == "Completed"
    await cluster.until(lambda: gate(cluster, "out-0") == "True")


async def test_one_that_stands_by_is_ready_only_beside_a_leader_and_with_everything_read(
    cluster: ScriptedCluster,
) -> None:
    leader, other = await pair(cluster)
    cluster.api.faults.add(Answer(403), "update", "leases", times=None)
    await leader.kill()
    await cluster.until(lambda: other.service.why_not_ready is not None)
    reason = "no controller leads: nobody renews the Lease probelet-system/probelet-controller"
    assert other.service.why_not_ready == reason
    cluster.api.faults.clear()
    await cluster.ready(other)
    cluster.api.faults.add(Answer(403), "*", "nodepodprobes", times=None)
    third = await cluster.controller("c")
    await cluster.pass_seconds(5)
    assert (third.service.why_not_ready or "").endswith(": nodepodprobes.apps.kruise.io")


async def test_a_leader_that_loses_its_lease_stands_by_anew(cluster: ScriptedCluster) -> None:
    only = await cluster.controller("a")
    await cluster.ready(only)
    first = only.service._leading
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])
    cluster.api.faults.add(Answer(500), "*", "leases", times=None)
    await cluster.until(lambda: only.service._leading is None, step_ns=SECOND)
    cluster.api.faults.clear()
    await cluster.ready(only)
    assert only.service._leading is not first
    cluster.publish("web-0")
    await cluster.pass_seconds(10)
    assert len(cluster.requests) == 1
