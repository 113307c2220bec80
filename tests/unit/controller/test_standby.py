"""A controller that stands by: it reads what the leader reads, writes nothing, and takes over without a list."""

from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.beside.guard.names import OPT_IN
from probelet.kube.kinds import PODS

from tests.support.kube_api import Answer
from tests.unit.controller.world import FAST, Running, World
from tests.unit.kube.virtual_clock import SECOND

OUT_FOR_NOTHING = '[{"userAgent":"ContainerRecreateRequest","key":"default/gone"}]'
READ = ("pods", "nodes", "nodepodprobes", "containerrecreaterequests", "poddisruptionbudgets", "statefulsets")


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    async with World() as world:
        world.node("node-1")
        world.workload()
        world.settings(FAST)
        yield world


async def pair(world: World) -> tuple[Running, Running]:
    """A leader, and one that stands by and has read everything."""
    leader = await world.controller("a")
    await world.ready(leader)
    other = await world.controller("b")
    await world.until(lambda: other.service.why_not_ready is None)
    return leader, other


def lists(world: World) -> list[int]:
    return [world.api.seen("list", plural) for plural in READ]


async def failing(world: World, *names: str) -> None:
    for name in names:
        world.pod(name)
    await world.until(lambda: set(names) <= set(world.mapped()))
    world.publish(*names)


async def test_a_change_of_leader_lists_nothing(world: World) -> None:
    leader, other = await pair(world)
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])
    before = lists(world)
    await leader.kill()
    killed_ns = world.clock.now()
    await world.ready(other)
    assert lists(world) == before
    # 15 s until the Lease is free, and before and after them up to 4.4 s between two tries.
    assert world.clock.now() - killed_ns <= 25 * SECOND
    await failing(world, "web-0", "web-1")
    await world.until(lambda: len(world.requests) == 2)
    assert sorted(world.restarted) == ["web-0", "web-1"]


async def test_one_that_stands_by_writes_nothing_whatever_happens(world: World) -> None:
    """It sees pods come, a failure, a request that no node begins, and a configuration with a mistake."""
    leader, other = await pair(world)
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])
    world.settings({"enabled": "maybe"})
    await world.pass_seconds(90)
    [request] = world.requests
    assert request["status"]["phase"] == "Completed"
    assert leader.count('probelet_elp_recreate_requests_given_up_total{reason="NotAnswered"}') == 1
    assert other.count('probelet_elp_recreate_requests_given_up_total{reason="NotAnswered"}') == 0
    assert "probelet_elp_writes_total{" not in other.metrics
    assert not any(other.count(f'probelet_elp_decisions_total{{reason="{each}"}}') for each in ("Queued", "Restarting"))
    assert len(world.events("ELPConfigurationInvalid")) == 1
    assert len(world.events("ELPRestartFailed")) == 1


def gate(world: World, pod: str) -> str:
    """The status of a pod's condition that requests keep False."""
    found = world.api.get(PODS, pod, "default")
    assert found is not None
    [condition] = [each for each in found["status"]["conditions"] if each["type"] == "KruisePodReady"]
    return str(condition["status"])


async def test_while_nobody_leads_nothing_is_decided_or_managed_and_all_of_it_by_the_next_leader(world: World) -> None:
    leader, other = await pair(world)
    world.pod("web-1")
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [] and "web-1" in world.mapped())
    world.api.faults.add(Answer(403), "update", "leases", times=None)
    await leader.kill()
    world.publish("web-0", "web-1")
    out = {"type": "KruisePodReady", "status": "False", "message": OUT_FOR_NOTHING}
    world.set_status(PODS, "out-0", {**world.pod("out-0", **{OPT_IN: "false"})["status"], "conditions": [out]})
    await world.pass_seconds(100)
    assert gate(world, "out-0") == "False"
    world.publish("web-0", "web-1")
    await world.pass_seconds(10)
    [request] = world.requests
    assert request.get("status", {}).get("phase", "") == "", "no node has begun it for a minute, and nobody ends it"
    world.api.faults.clear()
    await world.ready(other)
    await world.pass_seconds(9)
    assert sorted(world.restarted) == ["web-0", "web-1"]
    assert world.requests[0]["status"]["phase"] == "Completed"
    await world.until(lambda: gate(world, "out-0") == "True")


async def test_one_that_stands_by_is_ready_only_beside_a_leader_and_with_everything_read(world: World) -> None:
    leader, other = await pair(world)
    world.api.faults.add(Answer(403), "update", "leases", times=None)
    await leader.kill()
    await world.until(lambda: other.service.why_not_ready is not None)
    reason = "no controller leads: nobody renews the Lease probelet-system/probelet-controller"
    assert other.service.why_not_ready == reason
    world.api.faults.clear()
    await world.ready(other)
    world.api.faults.add(Answer(403), "*", "nodepodprobes", times=None)
    third = await world.controller("c")
    await world.pass_seconds(5)
    assert (third.service.why_not_ready or "").endswith(": nodepodprobes.apps.kruise.io")


async def test_a_leader_that_loses_its_lease_stands_by_anew(world: World) -> None:
    only = await world.controller("a")
    await world.ready(only)
    first = only.service._leading
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])
    world.api.faults.add(Answer(500), "*", "leases", times=None)
    await world.until(lambda: only.service._leading is None, step_ns=SECOND)
    world.api.faults.clear()
    await world.ready(only)
    assert only.service._leading is not first
    world.publish("web-0")
    await world.pass_seconds(10)
    assert len(world.requests) == 1
