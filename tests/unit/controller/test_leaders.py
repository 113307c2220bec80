"""Leaders that are killed one after the other while most pods fail: that writes and restarts nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from probelet.kube import kinds
from probelet.kube.connection import PAGE

from tests.support.kube_api import Answer, Delay
from tests.unit.controller.world import FAST, Running, World
from tests.unit.kube.virtual_clock import SECOND

ELEVEN = tuple(f"web-{number:02}" for number in range(11))


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    async with World() as world:
        world.workload(replicas=11)
        world.settings(FAST)
        # The pods of enhanced liveness are on the second page of the list.
        for number in range(PAGE):
            world.api.put(kinds.PODS, {"metadata": {"name": f"other-{number}", "namespace": "a"}, "spec": {}})
        yield world


async def mapped(world: World, *nodes: str) -> None:
    """Eleven pods on these nodes, mapped by the first leader; ten fail."""
    for node in nodes:
        world.node(node)
    first = await world.controller("0")
    for number, name in enumerate(ELEVEN):
        world.pod(name, nodes[number % len(nodes)])
    await world.until(lambda: sum(len(world.mapped(node)) for node in nodes) == 11)
    await world.ready(first)
    fail(world, *nodes)
    await world.pass_seconds(10)
    await first.kill()


def fail(world: World, *nodes: str) -> None:
    for node in nodes:
        world.publish(*ELEVEN[1:], node=node)


def versions(world: World, *nodes: str) -> list[str]:
    return [world.probes(node)["metadata"]["resourceVersion"] for node in nodes]


def written(world: World) -> int:
    """How often controllers have written NodePodProbes."""
    return sum(world.api.seen(verb, "nodepodprobes") for verb in ("create", "update", "patch", "delete"))


async def leading(world: World, controller: Running) -> None:
    await world.until(lambda: controller.service._leading is not None, step_ns=SECOND)


async def lead(world: World, name: str, late: dict[str, Any] | None) -> None:
    """A new controller leads for longer than it gathers failures, and is killed. ``late``: a list that comes late."""
    over = asyncio.Event()
    if late is not None:
        world.api.faults.add(Delay(over), "list", **late)
    controller = await world.controller(name)
    await leading(world, controller)
    if late is not None:
        await world.pass_seconds(2)
        assert (controller.service.why_not_ready or "").endswith(f": {late['plural']}")
    over.set()
    await world.ready(controller)
    await world.pass_seconds(7)
    await controller.kill()


LATE: tuple[dict[str, Any] | None, ...] = (
    None,
    {"plural": "pods"},
    {"plural": "pods", "skip": 1},
    {"plural": "nodes"},
)


async def test_twenty_leaders_in_a_row_change_nothing_and_restart_nothing(world: World) -> None:
    """The breaker of the node holds all ten."""
    await mapped(world, "node-1")
    writes, events = written(world), world.events("ELPProbeMapped")
    assert (len(events), world.requests) == (11, [])
    for number in range(20):
        fail(world, "node-1")
        before = versions(world, "node-1")
        await lead(world, str(number + 1), LATE[number % len(LATE)])
        assert (versions(world, "node-1"), written(world)) == (before, writes)
        assert world.requests == []
    assert world.events("ELPProbeMapped") == events


async def test_leaders_in_a_row_make_no_request_beyond_that_of_the_first(world: World) -> None:
    """The breaker of the workload lets one restart go at a time."""
    nodes = [f"node-{number}" for number in range(4)]
    await mapped(world, *nodes)
    writes, [request] = written(world), world.requests
    world.set_status(kinds.CONTAINER_RECREATE_REQUESTS, request["metadata"]["name"], {"phase": "Recreating"})
    for number in range(4):
        fail(world, *nodes)
        before = versions(world, *nodes)
        await lead(world, str(number + 1), LATE[number % len(LATE)])
        assert (versions(world, *nodes), written(world)) == (before, writes)
        assert [each["metadata"]["uid"] for each in world.requests] == [request["metadata"]["uid"]]


@pytest.mark.parametrize("plural", ["pods", "nodes"])
async def test_a_list_that_fails_for_minutes_after_a_410_takes_no_entry(world: World, plural: str) -> None:
    await mapped(world, "node-1")
    controller = await world.controller("1")
    await world.ready(controller)
    writes = written(world)
    world.api.faults.add(Answer(410, reason="Expired"), "watch", plural)
    world.api.faults.add(Answer(500), "list", plural, times=None)
    await world.api.refuse()
    await world.api.accept()
    await world.until(lambda: (controller.service.why_not_ready or "").endswith(f": {plural}"))
    world.api.remove(kinds.PODS, ELEVEN[0], "default")
    world.api.remove(kinds.NODE_POD_PROBES, "node-1")
    end = world.clock.now() + 180 * SECOND
    await world.until(lambda: world.clock.now() >= end, step_ns=3 * SECOND)
    assert written(world) == writes, "what is not known is not written"
    world.api.faults.clear()
    await world.until(lambda: tuple(world.mapped()) == ELEVEN[1:])
    assert (written(world), world.requests) == (writes + 1, [])
