"""The event queues: each reader gets every event in order, within bounded memory."""

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded import events
from probelet.runtime.embedded.events import EVENTS_WAITING_MAX, Events


def event(number: int) -> api_pb2.ContainerEventResponse:
    return api_pb2.ContainerEventResponse(container_id=str(number))


async def test_every_reader_sees_every_event_in_order() -> None:
    source = Events()
    readers = [source.subscribe(), source.subscribe()]
    for number in range(3):
        source.publish(event(number))
    for reader in readers:
        assert [(await anext(reader)).container_id for _ in range(3)] == ["0", "1", "2"]


async def test_events_are_wanted_while_there_is_a_reader() -> None:
    source = Events()
    assert not source.wanted
    reader = source.subscribe()
    assert source.wanted
    await reader.aclose()
    assert not source.wanted


async def test_a_slow_reader_gets_the_events_before_the_gap_then_an_error() -> None:
    source = Events()
    reader = source.subscribe()
    for number in range(EVENTS_WAITING_MAX + 5):
        source.publish(event(number))
    seen = [await anext(reader) for _ in range(EVENTS_WAITING_MAX)]
    assert [each.container_id for each in seen] == [str(number) for number in range(EVENTS_WAITING_MAX)]
    with pytest.raises(errors.ResourceExhausted, match="list again"):
        await anext(reader)
    assert not source.wanted


async def test_readers_above_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "READERS_MAX", 1)
    source = Events()
    reader = source.subscribe()
    with pytest.raises(errors.ResourceExhausted, match="1 readers"):
        source.subscribe()
    await reader.aclose()
    source.subscribe()
