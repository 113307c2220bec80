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
from tests.unit.controller.scripted_cluster import FAST, ScriptedCluster
from tests.unit.kube.virtual_clock import SECOND

ELEVEN = tuple(f"web-{number:02}" for number in range(11))
NODES = ("node-1", "node-2")
KINDS = (kinds.PODS, kinds.NODES, kinds.NODE_POD_PROBES, kinds.STATEFUL_SETS, kinds.POD_DISRUPTION_BUDGETS)
LIES = 200
MEBIBYTE = 1024 * 1024


def line(word: str, found: dict[str, Any]) -> bytes:
    return json.dumps({"type": word, "object": found}).encode() + b"\n"


def lies(chance: random.Random, cluster: ScriptedCluster, kind: Kind, before: list[dict[str, Any]]) -> Iterator[bytes]:
    """Events that a server which keeps its promises would not send; ``before`` are earlier versions of objects."""
    true = [*cluster.api.all(kind), *before]
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
                meta["deletionTimestamp"] = cluster.at()
            case 7:
                meta["resourceVersion"] = "not a number"
        word = chance.choice(["ADDED", "MODIFIED", "DELETED", "MODIFIED", "BOOKMARK"])
        yield line(word, found) * chance.choice([1, 1, 1, 2])


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
async def test_whatever_the_order_of_events_the_truth_counts_in_the_end_and_nothing_was_restarted(seed: int) -> None:
    chance = random.Random(seed)
    async with ScriptedCluster() as cluster:
        cluster.workload(replicas=11)
        cluster.settings(FAST)
        for node in NODES:
            cluster.node(node)
        controller = await cluster.controller()
        for number, name in enumerate(ELEVEN):
            cluster.pod(name, NODES[number % 2])
        await cluster.until(lambda: sum(len(cluster.mapped(node)) for node in NODES) == 11)
        before = {kind: list(cluster.api.all(kind)) for kind in KINDS}
        for node in NODES:
            cluster.publish(node=node)
        await cluster.ready(controller)
        for watch in list(cluster.api.watches):
            for raw in lies(chance, cluster, watch.kind, before.get(watch.kind, [])):
                watch.send(raw)
        await cluster.pass_seconds(60)
        assert not controller.task.done(), "the controller goes on"
        # Every watch ends as one of a version that is too old, and the server tells the truth from now on.
        for watch in list(cluster.api.watches):
            watch.expire()
        await cluster.until(lambda: sorted(chain(*map(cluster.mapped, NODES))) == list(ELEVEN), step_ns=SECOND)
        await cluster.ready(controller)
        await cluster.pass_seconds(30)
        assert cluster.requests == []


async def test_a_list_without_an_end_ends(cluster_with_pods: ScriptedCluster) -> None:
    """Each page has the same pods and says that more follow."""
    cluster = cluster_with_pods
    controller = await cluster.controller()
    await cluster.ready(controller)
    pods = list(cluster.api.all(kinds.PODS))
    page = {"metadata": {"resourceVersion": "9", "continue": "again"}, "items": pods}
    cluster.api.faults.add(Answer(200, body=json.dumps(page).encode()), "list", "pods", times=None)
    for watch in [watch for watch in cluster.api.watches if watch.kind is kinds.PODS]:
        watch.expire()
    before = cluster.api.seen("list", "pods")
    await cluster.until(lambda: cluster.api.seen("list", "pods") > before + 50)
    assert not controller.task.done()
    cluster.api.faults.clear()
    await cluster.until(lambda: len(cluster.mapped("node-1")) == len(ELEVEN))
    await cluster.ready(controller)


@pytest.fixture
async def cluster_with_pods() -> Any:
    async with ScriptedCluster() as cluster:
        cluster.workload(replicas=11)
        cluster.settings(FAST)
        cluster.node("node-1")
        for name in ELEVEN:
            cluster.pod(name)
        yield cluster
