"""A controller whose API server sends events out of order, twice, and about objects that share a UID."""

import copy
import json
import random
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from probelet.kube import kinds
from probelet.kube.kind import Kind

from tests.support.kube_api import Answer
from tests.unit.controller.world import FAST, World
from tests.unit.kube.virtual_clock import SECOND

ELEVEN = tuple(f"web-{number:02}" for number in range(11))
NODES = ("node-1", "node-2")
KINDS = (kinds.PODS, kinds.NODES, kinds.NODE_POD_PROBES, kinds.STATEFUL_SETS, kinds.POD_DISRUPTION_BUDGETS)
LIES = 200
MEBIBYTE = 1024 * 1024


def line(word: str, found: dict[str, Any]) -> bytes:
    return json.dumps({"type": word, "object": found}).encode() + b"\n"


def lies(chance: random.Random, world: World, kind: Kind, before: list[dict[str, Any]]) -> Iterator[bytes]:
    """Events that a server which keeps its promises would not send; ``before`` are earlier versions of objects."""
    true = [*world.api.all(kind), *before]
    for _ in range(LIES if true else 0):
        found = copy.deepcopy(chance.choice(true))
        meta = found["metadata"]
        match chance.randrange(9):
            case 0:
                meta["resourceVersion"] = str(chance.randrange(1, 10**6))
            case 1:
                meta["uid"] = chance.choice(true)["metadata"]["uid"]
            case 2:
                meta["name"] = chance.choice(true)["metadata"]["name"]
            case 3:
                meta["namespace"] = chance.choice(["", "default", "other"])
            case 4:
                meta["annotations"] = {**meta.get("annotations", {}), "a": "x" * chance.randrange(MEBIBYTE)}
            case 5:
                found.pop(chance.choice([key for key in found if key != "metadata"] or ["metadata"]), None)
            case 6:
                meta["deletionTimestamp"] = world.at()
            case 7:
                meta["resourceVersion"] = "not a number"
        word = chance.choice(["ADDED", "MODIFIED", "DELETED", "MODIFIED", "BOOKMARK"])
        yield line(word, found) * chance.choice([1, 1, 1, 2])


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_the_order_of_events_the_truth_counts_in_the_end_and_nothing_was_restarted(seed: int) -> None:
    chance = random.Random(seed)
    async with World() as world:
        world.workload(replicas=11)
        world.settings(FAST)
        for node in NODES:
            world.node(node)
        controller = await world.controller()
        for number, name in enumerate(ELEVEN):
            world.pod(name, NODES[number % 2])
        await world.until(lambda: sum(len(world.mapped(node)) for node in NODES) == 11)
        before = {kind: list(world.api.all(kind)) for kind in KINDS}
        for node in NODES:
            world.publish(node=node)
        await world.ready(controller)
        for watch in list(world.api.watches):
            for raw in lies(chance, world, watch.kind, before.get(watch.kind, [])):
                watch.send(raw)
        await world.pass_seconds(60)
        assert not controller.task.done(), "the controller goes on"
        # Every watch ends as one of a version that is too old, and the server tells the truth from now on.
        for watch in list(world.api.watches):
            watch.expire()
        await world.until(lambda: sorted(chain(*map(world.mapped, NODES))) == list(ELEVEN), step_ns=SECOND)
        await world.ready(controller)
        await world.pass_seconds(30)
        assert world.requests == []


async def test_a_list_without_an_end_ends(world_with_pods: World) -> None:
    """Each page has the same pods and says that more follow."""
    world = world_with_pods
    controller = await world.controller()
    await world.ready(controller)
    pods = list(world.api.all(kinds.PODS))
    page = {"metadata": {"resourceVersion": "9", "continue": "again"}, "items": pods}
    world.api.faults.add(Answer(200, body=json.dumps(page).encode()), "list", "pods", times=None)
    for watch in [watch for watch in world.api.watches if watch.kind is kinds.PODS]:
        watch.expire()
    before = world.api.seen("list", "pods")
    await world.until(lambda: world.api.seen("list", "pods") > before + 50)
    assert not controller.task.done()
    world.api.faults.clear()
    await world.until(lambda: len(world.mapped("node-1")) == len(ELEVEN))
    await world.ready(controller)


@pytest.fixture
async def world_with_pods() -> Any:
    async with World() as world:
        world.workload(replicas=11)
        world.settings(FAST)
        world.node("node-1")
        for name in ELEVEN:
            world.pod(name)
        yield world
