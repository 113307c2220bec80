"""The reflector against every way in which a watch ends."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.kube.connection import Connection
from probelet.kube.kinds import PODS
from probelet.kube.reflector import SILENCE_NS, Reflector

from tests.support.kube_api import Answer, KubeApi
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until

BACK_OFF_MAX_NS = 60 * SECOND
"""Twice the longest delay; the watchdog waits longer."""

Changes = list[tuple[str | None, str | None]]


class Mirrored:
    """A reflector of pods by their label ``v``, which runs, and what it reported."""

    def __init__(self, api: KubeApi, connection: Connection, clock: VirtualClock) -> None:
        self.changes: Changes = []
        self.connected: list[bool] = []
        self._api = api
        self._clock = clock
        self.reflector: Reflector[str] = Reflector(
            connection,
            PODS,
            lambda found: found["metadata"]["name"] + ":" + found["metadata"]["labels"]["v"],
            clock=clock,
            on_change=lambda before, now: self.changes.append((before, now)),
            on_connected=self.connected.append,
            chance=lambda: 0.5,
        )

    def put(self, name: str, value: str) -> None:
        self._api.put(PODS, {"metadata": {"name": name, "namespace": "d", "labels": {"v": value}}})

    def remove(self, name: str) -> None:
        self._api.remove(PODS, name, "d")

    @property
    def items(self) -> list[str]:
        return sorted(self.reflector.items.values())

    async def until(self, *items: str) -> None:
        """Waits until the reflector has these items."""
        await until(lambda: self.items == sorted(items))

    async def backed_off(self) -> int:
        """Waits until the reflector sleeps after a failure; returns for how long.

        A back-off is at most a minute; other waits are those of the watchdog.
        """
        await until(lambda: not self.reflector.connected and self._clock.sleeps(BACK_OFF_MAX_NS))
        return self._clock.pending()[0]

    async def go_on(self, *items: str) -> None:
        """Ends each back-off until the reflector watches and has these items."""

        def reached() -> bool:
            if not self.reflector.connected and self._clock.sleeps(BACK_OFF_MAX_NS):
                self._clock.advance(self._clock.pending()[0])
            return self.reflector.connected and bool(self._api.watches) and self.items == sorted(items)

        await until(reached)


@pytest_asyncio.fixture
async def mirrored(api: KubeApi, connection: Connection, clock: VirtualClock) -> AsyncIterator[Mirrored]:
    mirrored = Mirrored(api, connection, clock)
    mirrored.put("a", "1")
    mirrored.put("b", "1")
    running = asyncio.create_task(mirrored.reflector.run())
    await mirrored.reflector.synced.wait()
    await api.watched()
    yield mirrored
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled(), "the loop never ends by itself"


async def test_changes_come_in_order(mirrored: Mirrored) -> None:
    mirrored.put("a", "2")
    mirrored.remove("b")
    mirrored.put("c", "1")
    await mirrored.until("a:2", "c:1")
    assert mirrored.changes == [(None, "a:1"), (None, "b:1"), ("a:1", "a:2"), ("b:1", None), (None, "c:1")]
    assert mirrored.reflector.lists == 1


@pytest.mark.parametrize("as_status", [False, True])
async def test_a_forgotten_version_is_listed_again_and_deletions_are_seen(
    mirrored: Mirrored, api: KubeApi, as_status: bool
) -> None:
    api.expired_as_status = as_status
    await api.refuse()
    await mirrored.backed_off()
    mirrored.remove("a")
    mirrored.put("c", "1")
    api.store.compact()
    await api.accept()
    await mirrored.go_on("b:1", "c:1")
    assert mirrored.changes[2:] == [("a:1", None), (None, "c:1")]
    assert mirrored.reflector.lists == 2


async def test_a_refused_connection_is_tried_again_from_its_version(mirrored: Mirrored, api: KubeApi) -> None:
    await api.refuse()
    assert await mirrored.backed_off() == 1.2 * SECOND
    mirrored.put("a", "2")
    await api.accept()
    await mirrored.go_on("a:2", "b:1")
    assert mirrored.reflector.lists == 1
    assert mirrored.connected == [True, False, True]


async def test_a_silent_server_is_left_after_its_bookmarks_stop(
    mirrored: Mirrored, api: KubeApi, clock: VirtualClock
) -> None:
    api.watches[0].bookmark()
    mirrored.put("a", "2")
    await mirrored.until("a:2", "b:1")
    api.watches[0].silent = True
    mirrored.put("a", "3")
    clock.advance(SILENCE_NS - SECOND)
    assert mirrored.reflector.connected
    await until(lambda: bool(clock.pending()))
    clock.advance(SECOND)
    await mirrored.go_on("a:3", "b:1")
    assert mirrored.reflector.lists == 1


async def test_a_limit_of_the_server_is_kept(mirrored: Mirrored, api: KubeApi) -> None:
    api.faults.add(Answer(429, headers={"Retry-After": "45"}), "watch")
    api.watches[0].end()
    await mirrored.backed_off()
    mirrored._clock.advance(60 * SECOND)
    assert await mirrored.backed_off() == 45 * SECOND
