"""An API server that answers nonsense, too slowly, or not at all."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import structlog
from probelet.kube import answer
from probelet.kube import connection as module
from probelet.kube.connection import Connection
from probelet.kube.error import Garbage, Unreachable
from probelet.kube.kinds import PODS

from tests.support.kube_api import Answer, Delay, Drop, KubeApi
from tests.unit.kube.mirrored import Mirrored
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until


@pytest_asyncio.fixture
async def mirrored(api: KubeApi, connection: Connection, clock: VirtualClock) -> AsyncIterator[Mirrored]:
    mirrored = Mirrored(api, connection, clock)
    mirrored.put("a", "1")
    mirrored.put("b", "1")
    async with mirrored:
        await api.watched()
        yield mirrored


@pytest.fixture
def log() -> Any:
    with structlog.testing.capture_logs() as log:
        yield log


NONSENSE = [
    b"\x00\xff\n",
    b"not json\n",
    b"[]\n",
    b'{"type": "ADDED"}\n',
    b'{"type": "ADDED", "object": 7}\n',
    b'{"type": "ADDED", "object": {}}\n',
    b'{"type": "ADDED", "object": {"metadata": {"name": "x", "uid": "u"}}}\n',
    b'{"type": "ADDED", "object": {"metadata": {"name": ["x"], "uid": "u", "resourceVersion": "9"}}}\n',
    b'{"type": "WHAT", "object": {"metadata": {"name": "x"}}}\n',
    b'{"type": "BOOKMARK", "object": {"metadata": {}}}\n',
    b'{"type": "ERROR", "object": {"code": "x"}}\n',
    b'{"type": "ERROR", "object": {}}\n',
    b'{"type":"ADDED","object":' + b'{"a":' * 100_000 + b"\n",
]


@pytest.mark.parametrize("raw", NONSENSE)
async def test_nonsense_in_the_stream_costs_a_line_and_a_new_list(
    mirrored: Mirrored, api: KubeApi, raw: bytes, log: list[Any]
) -> None:
    api.watches[0].send(raw)
    await mirrored.backed_off()
    assert [(entry["log_level"], "cannot watch pods: " in entry["event"]) for entry in log] == [("warning", True)]
    assert "\n" not in log[0]["event"]
    assert len(log[0]["event"]) < 1200
    mirrored.remove("a")
    await mirrored.go_on("b:1")
    assert mirrored.reflector.lists == 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b"null",
        b'{"metadata": {"resourceVersion": "5"}, "items": 7}',
        b'{"metadata": {}, "items": []}',
    ],
)
async def test_nonsense_as_a_list_leaves_the_objects_as_they_were(
    mirrored: Mirrored, api: KubeApi, body: bytes, log: list[Any]
) -> None:
    for _ in range(3):
        api.faults.add(Answer(200, body=body), "list")
    api.watches[0].expire()
    await mirrored.backed_off()
    await mirrored.go_on("a:1", "b:1")
    assert mirrored.changes == [(None, "a:1"), (None, "b:1")]
    assert api.seen("list") == 5
    # The expired watch, the same nonsense three times, and the end of the trouble.
    assert [entry["log_level"] for entry in log] == ["warning", "warning", "info"]


async def test_an_object_that_cannot_be_read_keeps_its_last_version_and_costs_one_line(
    mirrored: Mirrored, api: KubeApi, log: list[Any]
) -> None:
    for number in range(3):
        api.put(PODS, {"metadata": {"name": "a", "namespace": "d", "labels": {"w": str(number)}}})
    api.watches[0].expire()
    mirrored.put("b", "2")
    await mirrored.go_on("a:1", "b:2")
    assert [entry["event"] for entry in log if "cannot be read" in entry["event"]] == [
        "pods d/a cannot be read; its last version stays"
    ]
    mirrored.put("a", "2")
    await mirrored.until("a:2", "b:2")
    api.put(PODS, {"metadata": {"name": "a", "namespace": "d", "labels": None}})
    mirrored.put("b", "3")
    await mirrored.until("a:2", "b:3")
    assert len([entry for entry in log if "cannot be read" in entry["event"]]) == 2
    mirrored.remove("a")
    await mirrored.until("b:3")


async def test_a_line_without_an_end_is_cut_off(
    mirrored: Mirrored, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "LINE_BYTES_MAX", 1_000_000)
    api.watches[0].send(b"x" * 3_000_000)
    await mirrored.backed_off()
    await mirrored.go_on("a:1", "b:1")
    assert mirrored.reflector.lists == 2


async def test_a_body_that_is_too_long_is_cut_off(
    connection: Connection, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "BODY_BYTES_MAX", 1_000_000)
    api.faults.add(Answer(200, body=b" " * 3_000_000))
    with pytest.raises(Garbage, match="list pods: Garbage: the body is longer than 1000000 bytes"):
        await connection.list(PODS)


async def test_a_request_that_is_never_answered_ends(
    connection: Connection, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REQUEST_SECONDS", 0.05)
    slow = Delay(asyncio.Event())
    api.faults.add(slow, "get")
    with pytest.raises(Unreachable, match=r"get pods d/a: Unreachable: no answer within 0\.05 seconds"):
        await connection.get(PODS, "a", "d")
    slow.over.set()


async def test_an_object_of_a_mebibyte_comes_whole(mirrored: Mirrored, api: KubeApi) -> None:
    big = "x" * 1024 * 1024
    mirrored.put("a", big)
    await mirrored.until(f"a:{big}", "b:1")
    api.watches[0].expire()
    mirrored.put("b", big)
    await mirrored.go_on(f"a:{big}", f"b:{big}")


async def test_a_closed_connection_goes_on_from_its_version(mirrored: Mirrored, api: KubeApi) -> None:
    api.watches[0].abort()
    mirrored.put("a", "2")
    await mirrored.go_on("a:2", "b:1")
    assert mirrored.reflector.lists == 1


@pytest.mark.parametrize("fault", [Answer(500), Answer(503), Answer(401), Answer(403), Drop(), Answer(429)])
async def test_a_refused_watch_goes_on_from_its_version(mirrored: Mirrored, api: KubeApi, fault: Any) -> None:
    for _ in range(3):
        api.faults.add(fault, "watch")
    api.watches[0].end()
    mirrored.put("a", "2")
    mirrored.remove("b")
    await mirrored.go_on("a:2")
    assert mirrored.reflector.lists == 1
    assert mirrored.changes[2:] == [("a:1", "a:2"), ("b:1", None)]


async def test_a_mirror_that_is_newer_than_the_server_is_listed_again(mirrored: Mirrored, api: KubeApi) -> None:
    """As after a restore of etcd: the server is younger than its clients, and its versions come a second time."""
    restore = api.store.backup()
    mirrored.put("a", "2")
    mirrored.put("b", "2")
    await mirrored.until("a:2", "b:2")
    version = api.store.version
    api.watches[0].abort()
    restore()
    mirrored.put("a", "other")
    assert api.store.version < version
    await mirrored.go_on("a:other", "b:1")
    assert mirrored.reflector.lists == 2
    assert mirrored.changes[-2:] == [("a:2", "a:other"), ("b:2", "b:1")]


async def test_a_server_that_ends_each_watch_at_once_is_not_asked_in_a_circle(
    mirrored: Mirrored, api: KubeApi, clock: VirtualClock
) -> None:
    waits = []
    for number in range(8):
        await api.watched()
        # Even a change on the way does not make the next request come sooner.
        mirrored.put("a", f"{number}")
        await mirrored.until(f"a:{number}", "b:1")
        api.watches[0].end()
        waits.append(await mirrored.backed_off())
        clock.advance(waits[-1])
        await until(lambda: mirrored.reflector.connected)
    assert waits == [int(1.2 * SECOND * 2**n) for n in range(6)] + [45 * SECOND] * 2


async def test_a_list_whose_pages_expire_begins_again_without_pages(
    connection: Connection, api: KubeApi, clock: VirtualClock
) -> None:
    mirrored = Mirrored(api, connection, clock)
    for number in range(1200):
        mirrored.put(f"p{number:04}", "1")
    api.faults.add(Answer(410), "list", skip=1)
    async with mirrored:
        assert len(mirrored.items) == 1200
        assert mirrored.reflector.lists == 1
        assert api.seen("list") == 3, "two pages and the whole"


async def test_ten_thousand_pods_come_in_pages(connection: Connection, api: KubeApi, clock: VirtualClock) -> None:
    mirrored = Mirrored(api, connection, clock)
    for number in range(10_000):
        mirrored.put(f"p{number:05}", "1")
    async with mirrored:
        assert len(mirrored.items) == 10_000
        assert api.seen("list") == 20
