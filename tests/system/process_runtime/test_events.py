"""The event stream of real containers."""

import asyncio

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import ContainerEvents
from probelet.runtime.cri.v1 import api_pb2

from tests.support.patience import PATIENCE_SECONDS
from tests.system.process_runtime.conftest import RunningRuntime

pytestmark = pytest.mark.e2e

CREATED, STARTED = api_pb2.CONTAINER_CREATED_EVENT, api_pb2.CONTAINER_STARTED_EVENT
STOPPED, DELETED = api_pb2.CONTAINER_STOPPED_EVENT, api_pb2.CONTAINER_DELETED_EVENT


async def opened(running: RunningRuntime) -> ContainerEvents:
    events = running.client.container_events()
    await events.opened()
    return events


async def next_events(events: ContainerEvents, count: int) -> list[tuple[str, int]]:
    found = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        for _ in range(count):
            event = await anext(events)
            found.append((event.container_id, event.container_event_type))
    return found


async def test_every_reader_gets_the_events_of_a_container_in_order(running: RunningRuntime) -> None:
    readers = [await opened(running), await opened(running)]
    pod = await running.pod()
    container_id = await pod.start("sleep", "60")
    await running.client.stop_container(container_id, 5)
    await running.client.remove_container(container_id)
    await running.client.remove_pod_sandbox(pod.id)
    expected = [
        *[(pod.id, CREATED), (pod.id, STARTED)],
        *[(container_id, CREATED), (container_id, STARTED), (container_id, STOPPED), (container_id, DELETED)],
        *[(pod.id, STOPPED), (pod.id, DELETED)],
    ]
    assert [await next_events(reader, len(expected)) for reader in readers] == [expected, expected]


async def test_an_event_carries_the_state_after_its_change(running: RunningRuntime) -> None:
    pod = await running.pod()
    events = await opened(running)
    container_id = await pod.start("sh", "-c", "exit 3")
    async with asyncio.timeout(PATIENCE_SECONDS):
        seen = [await anext(events) for _ in range(3)]
    states = [event.containers_statuses[0].state for event in seen]
    assert states == [api_pb2.CONTAINER_CREATED, api_pb2.CONTAINER_RUNNING, api_pb2.CONTAINER_EXITED]
    stopped = seen[2]
    assert (stopped.containers_statuses[0].id, stopped.containers_statuses[0].exit_code) == (container_id, 3)
    assert stopped.pod_sandbox_status.network.ip == pod.ip


async def test_a_start_that_fails_is_an_exit(running: RunningRuntime) -> None:
    pod = await running.pod()
    events = await opened(running)
    container_id = await pod.create("no-such-program")
    with pytest.raises(errors.RuntimeRefused):
        await running.client.start_container(container_id)
    assert await next_events(events, 2) == [(container_id, CREATED), (container_id, STOPPED)]


async def test_the_stream_breaks_with_the_runtime(running: RunningRuntime) -> None:
    events = await opened(running)
    pod = await running.pod()
    await next_events(events, 2)
    await running.runtime.aclose()
    with pytest.raises((errors.RuntimeUnavailable, errors.Canceled)):
        await anext(events)
    with pytest.raises(errors.RuntimeUnavailable):
        await running.client.pod_sandbox_status(pod.id)
