"""The reflector against every way in which a watch ends."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.kube.connection import Connection
from probelet.kube.reflector import SILENCE_NS

from tests.support.kube_api import Answer, KubeApi
from tests.unit.kube.mirrored import Mirrored
from tests.unit.kube.virtual_clock import SECOND, VirtualClock


@pytest_asyncio.fixture
async def mirrored(api: KubeApi, connection: Connection, clock: VirtualClock) -> AsyncIterator[Mirrored]:
    mirrored = Mirrored(api, connection, clock)
    mirrored.put("a", "1")
    mirrored.put("b", "1")
    async with mirrored:
        await api.watched()
        yield mirrored


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


async def test_a_silent_watch_is_replaced(mirrored: Mirrored, api: KubeApi, clock: VirtualClock) -> None:
    api.watches[0].bookmark()
    mirrored.put("a", "2")
    await mirrored.until("a:2", "b:1")
    api.watches[0].silent = True
    mirrored.put("a", "3")
    clock.advance(SILENCE_NS - SECOND)
    for _ in range(100):
        await asyncio.sleep(0)
    assert api.seen("watch") == 1
    clock.advance(SECOND)
    await mirrored.until("a:3", "b:1")
    assert mirrored.reflector.lists == 1
    assert mirrored.connected == [True], "a quiet night is no failure"


async def test_a_limit_of_the_server_is_kept(mirrored: Mirrored, api: KubeApi) -> None:
    api.faults.add(Answer(429, headers={"Retry-After": "45"}), "watch")
    api.watches[0].end()
    await mirrored.backed_off()
    mirrored._clock.advance(60 * SECOND)
    assert await mirrored.backed_off() == 45 * SECOND


async def test_a_version_that_a_server_has_forgotten_while_it_was_away_is_replaced_soon(
    mirrored: Mirrored, api: KubeApi, clock: VirtualClock
) -> None:
    await api.refuse()
    waits = []
    for _ in range(7):
        waits.append(await mirrored.backed_off())
        clock.advance(waits[-1])
    assert waits[-1] == 45 * SECOND
    await mirrored.backed_off()
    api.store.compact()
    mirrored.put("a", "2")
    await api.accept()
    clock.advance(waits[-1])
    assert await mirrored.backed_off() == 1.2 * SECOND, "the list, after a watch that the server refused"
    await mirrored.go_on("a:2", "b:1")


async def test_a_version_that_is_forgotten_again_and_again_is_a_failure(
    mirrored: Mirrored, api: KubeApi, clock: VirtualClock
) -> None:
    api.faults.add(Answer(410, reason="Expired"), "watch", times=None)
    api.watches[0].end()
    waits = []
    for _ in range(5):
        waits.append(await mirrored.backed_off())
        clock.advance(waits[-1])
    assert waits[1:] == [1.2 * SECOND, 2.4 * SECOND, 4.8 * SECOND, 9.6 * SECOND]


async def test_one_who_hears_of_the_server_by_another_way_need_not_wait(
    mirrored: Mirrored, api: KubeApi, clock: VirtualClock
) -> None:
    await api.refuse()
    for _ in range(6):
        clock.advance(await mirrored.backed_off())
    assert await mirrored.backed_off() == 45 * SECOND
    mirrored.put("a", "2")
    await api.accept()
    mirrored.reflector.hurry()
    await mirrored.until("a:2", "b:1")


async def test_a_wait_that_the_server_asks_for_is_kept_whoever_hears_of_it(
    mirrored: Mirrored, api: KubeApi, clock: VirtualClock
) -> None:
    api.faults.add(Answer(429, headers={"Retry-After": "45"}), "watch")
    api.watches[0].end()
    await mirrored.backed_off()
    clock.advance(60 * SECOND)
    assert await mirrored.backed_off() == 45 * SECOND
    mirrored.reflector.hurry()
    for _ in range(100):
        await asyncio.sleep(0)
    assert await mirrored.backed_off() == 45 * SECOND
