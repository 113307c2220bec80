"""The one mirror of pods: what it keeps while somebody follows the taken-over pods, and while nobody does."""

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.takeover.taken_pod import TakenPod
from probelet.controller.pod_mirror import Follower, PodMirror
from probelet.kube import kinds

from tests.unit.controller.test_absence import Nodes


class Mirrored:
    """A mirror, and the pods that it reports."""

    def __init__(self, cluster: Nodes, pods: PodMirror) -> None:
        self.cluster = cluster
        self.pods = pods
        self.guarded: dict[str, GuardedPod | None] = {}
        self.taken: dict[str, TakenPod] = {}
        self.has_taken: list[bool] = []
        self.connections: list[bool] = []

    def follow(self) -> None:
        self.taken.clear()
        self.pods.follow(Follower(self._changed, lambda: self.has_taken.append(self.pods.has_taken)))

    def _changed(self, before: TakenPod | None, now: TakenPod | None) -> None:
        if now is not None:
            self.taken[now.name] = now
        elif before is not None:
            del self.taken[before.name]

    @property
    def kept(self) -> set[str]:
        return {name for _, name in self.pods._reflector.items}


@pytest_asyncio.fixture
async def mirrored() -> AsyncIterator[Mirrored]:
    """A taken-over pod, one of enhanced liveness, and one of both."""
    async with Nodes() as cluster, cluster.api.connection() as connection, asyncio.TaskGroup() as group:
        cluster.taken("taken", "node-1")
        cluster.pod("guarded")
        cluster.pod("both", **{"probelet.dev/probes": "{}"})
        made = Mirrored(cluster, PodMirror(connection, cluster.clock, lambda uid, pod: None, lambda up: None))
        made.pods._on_guarded = made.guarded.__setitem__
        made.pods._on_connected = made.connections.append
        running = group.create_task(made.pods.run())
        await cluster.until(lambda: made.pods._reflector.synced.is_set())
        yield made
        running.cancel()


async def test_nobody_follows_so_only_the_pods_of_enhanced_liveness_are_kept(mirrored: Mirrored) -> None:
    assert mirrored.kept == {"guarded", "both"}
    assert {pod.name for pod in mirrored.guarded.values() if pod is not None} == {"guarded", "both"}
    assert all(seen.taken is None for seen in mirrored.pods._reflector.items.values())
    assert not mirrored.pods.has_taken


async def test_a_follower_gets_every_taken_over_pod_and_enhanced_liveness_notices_nothing(mirrored: Mirrored) -> None:
    mirrored.follow()
    await mirrored.cluster.until(lambda: mirrored.has_taken == [True])
    assert mirrored.taken.keys() == {"taken", "both"}
    assert mirrored.kept == {"taken", "guarded", "both"}
    mirrored.cluster.api.remove(kinds.PODS, "taken", "default")
    mirrored.cluster.taken("later", "node-1")
    await mirrored.cluster.until(lambda: mirrored.taken.keys() == {"later", "both"})
    mirrored.pods.follow(None)
    await mirrored.cluster.until(lambda: mirrored.kept == {"guarded", "both"})
    assert mirrored.connections == [True]
    assert None not in mirrored.guarded.values()


async def test_a_second_follower_gets_what_is_known_already(mirrored: Mirrored) -> None:
    mirrored.follow()
    await mirrored.cluster.until(lambda: mirrored.has_taken == [True])
    mirrored.pods.follow(None)
    mirrored.follow()
    await mirrored.cluster.until(lambda: mirrored.pods.has_taken)
    assert mirrored.taken.keys() == {"taken", "both"}


async def test_a_server_that_is_away_is_news_for_the_follower(mirrored: Mirrored) -> None:
    mirrored.follow()
    await mirrored.cluster.until(lambda: mirrored.has_taken == [True])
    await mirrored.cluster.api.refuse()
    await mirrored.cluster.until(lambda: mirrored.has_taken == [True, False])
    await mirrored.cluster.api.accept()
    await mirrored.cluster.minutes(1)
    await mirrored.cluster.until(lambda: mirrored.has_taken == [True, False, True])
