"""Events on their way to the API server: counted, kept while it is away, bounded."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import structlog
from msgspec.structs import replace
from probelet.kube.connection import Connection
from probelet.kube.events import writer as module
from probelet.kube.events.correlator import SPAM_BURST
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.kube.kinds import EVENTS, NODES

from tests.support.kube_api import Answer, Drop, KubeApi
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until

WEB = Regarding("v1", "Pod", "default", "web", "uid-web", "spec.containers{app}", "17")


@pytest_asyncio.fixture
async def writer(connection: Connection, clock: VirtualClock) -> AsyncIterator[EventWriter]:
    writer = EventWriter(connection, "probelet-agent", "node-a", clock, chance=lambda: 0)
    running = asyncio.create_task(writer.run())
    yield writer
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled(), "the loop never ends by itself"


async def test_an_event_is_what_client_go_writes(writer: EventWriter, api: KubeApi) -> None:
    writer.record(WEB, "Warning", "Unhealthy", "Liveness probe failed: 503")
    await until(lambda: writer.written == 1)
    (event,) = api.all(EVENTS)
    assert event["metadata"].pop("name").startswith("web.18e9")
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": event["metadata"] | {"namespace": "default"},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "default",
            "name": "web",
            "uid": "uid-web",
            "fieldPath": "spec.containers{app}",
            "resourceVersion": "17",
        },
        "type": "Warning",
        "reason": "Unhealthy",
        "message": "Liveness probe failed: 503",
        "count": 1,
        "source": {"component": "probelet-agent", "host": "node-a"},
        "reportingComponent": "probelet-agent",
        "reportingInstance": "node-a",
        "firstTimestamp": "2026-11-19T11:06:40.000Z",
        "lastTimestamp": "2026-11-19T11:06:40.000Z",
    }


async def test_equal_events_are_one_object_with_a_count(writer: EventWriter, api: KubeApi, clock: VirtualClock) -> None:
    for count in (1, 2, 3):
        writer.record(WEB, "Warning", "Unhealthy", "refused")
        await until(lambda count=count: writer.written == count)  # type: ignore[misc]
        clock.advance(10 * SECOND)
    (event,) = api.all(EVENTS)
    assert (event["count"], event["firstTimestamp"], event["lastTimestamp"]) == (
        3,
        "2026-11-19T11:06:40.000Z",
        "2026-11-19T11:07:00.000Z",
    )
    assert api.seen("patch") == 2


async def test_another_wording_counts_as_the_same_event(writer: EventWriter, api: KubeApi) -> None:
    for number in (1, 2):
        writer.record(WEB, "Warning", "Unhealthy", "refused", shown=f"refused ({number} of 3)")
        await until(lambda number=number: writer.written == number)  # type: ignore[misc]
    (event,) = api.all(EVENTS)
    assert (event["count"], event["message"]) == (2, "refused (2 of 3)")


async def test_different_events_of_one_moment_are_different_objects(writer: EventWriter, api: KubeApi) -> None:
    for message in ("a", "b", "c"):
        writer.record(WEB, "Normal", "Killing", message)
    await until(lambda: writer.written == 3)
    assert len(api.all(EVENTS)) == 3


async def test_an_event_that_the_server_forgot_is_written_anew_with_its_count(
    writer: EventWriter, api: KubeApi
) -> None:
    writer.record(WEB, "Warning", "Unhealthy", "refused")
    await until(lambda: writer.written == 1)
    (first,) = api.all(EVENTS)
    api.remove(EVENTS, first["metadata"]["name"], "default")
    writer.record(WEB, "Warning", "Unhealthy", "refused")
    await until(lambda: writer.written == 2)
    (event,) = api.all(EVENTS)
    assert event["count"] == 2
    assert event["metadata"]["name"] != first["metadata"]["name"]


async def test_an_event_whose_answer_was_lost_is_not_written_twice(
    writer: EventWriter, api: KubeApi, clock: VirtualClock
) -> None:
    api.faults.add(Drop(carried_out=True), "create", "events")
    writer.record(WEB, "Warning", "Unhealthy", "refused")
    await until(lambda: bool(clock.pending()))
    clock.advance(clock.pending()[0])
    await until(lambda: writer.written == 1)
    (event,) = api.all(EVENTS)
    assert event["count"] == 1
    writer.record(WEB, "Warning", "Unhealthy", "refused")
    await until(lambda: writer.written == 2)
    (event,) = api.all(EVENTS)
    assert event["count"] == 2


async def test_while_the_server_is_away_the_newest_events_stay_and_repetitions_cost_no_place(
    writer: EventWriter, api: KubeApi, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUEUE_MAX", 3)
    await api.refuse()
    for number in range(5):
        writer.record(Regarding("v1", "Pod", "default", f"p{number}", f"u{number}"), "Normal", "Killing", "x")
    for _ in range(4):
        writer.record(Regarding("v1", "Pod", "default", "p4", "u4"), "Normal", "Killing", "x")
    await until(lambda: bool(clock.pending()))
    assert writer.lost == 2
    await api.accept()
    clock.advance(clock.pending()[0])
    await until(lambda: not writer.waiting)
    await until(lambda: writer.written >= 3)
    assert {(event["involvedObject"]["name"], event["count"]) for event in api.all(EVENTS)} == {
        ("p2", 1),
        ("p3", 1),
        ("p4", 5),
    }


async def test_a_limited_writer_waits_as_long_as_the_server_says(
    writer: EventWriter, api: KubeApi, clock: VirtualClock
) -> None:
    api.faults.add(Answer(429, headers={"Retry-After": "90"}))
    writer.record(WEB, "Normal", "Killing", "x")
    await until(lambda: bool(clock.pending()))
    assert clock.pending() == [90 * SECOND]
    clock.advance(90 * SECOND)
    await until(lambda: writer.written == 1)


async def test_an_event_that_the_server_does_not_want_is_dropped(writer: EventWriter, api: KubeApi) -> None:
    api.faults.add(Answer(403, "namespace default is being terminated"))
    writer.record(WEB, "Normal", "Killing", "x")
    writer.record(WEB, "Normal", "Killing", "y")
    await until(lambda: writer.written == 1)
    assert writer.refused == 1
    assert [event["message"] for event in api.all(EVENTS)] == ["y"]


async def test_a_writer_without_rights_says_so_once_for_each_namespace(writer: EventWriter, api: KubeApi) -> None:
    shop = replace(WEB, namespace="shop", uid="uid-shop")

    def said() -> list[str]:
        return [line["reason"] for line in lines if "cannot be written" in line["event"]]

    with structlog.testing.capture_logs() as lines:
        for number in range(4):
            for about in (WEB, shop):
                api.faults.add(Answer(403, f'events "web.{number}" is forbidden: no rights'))
                writer.record(about, "Normal", "Killing", str(number))
        await until(lambda: writer.refused == 8)
        assert len(said()) == 2
        writer.record(WEB, "Normal", "Killing", "written")
        await until(lambda: writer.written == 1)
        api.faults.add(Answer(403, "no rights again"))
        writer.record(WEB, "Normal", "Killing", "refused")
        await until(lambda: writer.refused == 9)
        assert len(said()) == 3


async def test_a_flood_about_one_object_is_limited(writer: EventWriter, api: KubeApi) -> None:
    for _ in range(SPAM_BURST + 10):
        writer.record(WEB, "Warning", "Unhealthy", "refused")
    assert writer.spam == 10
    await until(lambda: writer.written == 1)
    (event,) = api.all(EVENTS)
    assert event["count"] == SPAM_BURST


async def test_similar_events_are_merged(writer: EventWriter, api: KubeApi) -> None:
    for number in range(12):
        writer.record(WEB, "Warning", "Unhealthy", f"code {number}")
    await until(lambda: writer.written >= 10 and not writer.waiting)
    messages = {event["message"]: event["count"] for event in api.all(EVENTS)}
    assert len(messages) == 10
    assert messages["(combined from similar events): code 11"] == 3


async def test_an_event_about_a_node_lands_in_default(writer: EventWriter, api: KubeApi) -> None:
    writer.record(Regarding("v1", NODES.kind, "", "Node_A", "uid-n"), "Normal", "Starting", "x")
    await until(lambda: writer.written == 1)
    (event,) = api.all(EVENTS)
    assert event["metadata"]["namespace"] == "default"
    assert "Node_A" not in event["metadata"]["name"], "a name that the API would refuse is replaced"
