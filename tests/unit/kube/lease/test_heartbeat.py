"""The lease of a process that lives."""

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.kube.connection import Connection
from probelet.kube.kinds import LEASES
from probelet.kube.lease.heartbeat import LONGEST_RETRY_NS, Heartbeat

from tests.support.kube_api import Answer, Drop, KubeApi
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until


@pytest_asyncio.fixture
async def heartbeat(connection: Connection, clock: VirtualClock) -> AsyncIterator[Heartbeat]:
    heartbeat = Heartbeat(connection, "probelet-agent-a", "system", "a_1", clock, chance=lambda: 0.5)
    running = asyncio.create_task(heartbeat.run())
    yield heartbeat
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled(), "the loop never ends by itself"


async def renewed(heartbeat: Heartbeat, clock: VirtualClock) -> None:
    await until(lambda: heartbeat.renewed_ns == clock.now() and bool(clock.pending()))


async def test_the_lease_is_made_and_renewed_with_one_request_each(
    heartbeat: Heartbeat, api: KubeApi, clock: VirtualClock
) -> None:
    await renewed(heartbeat, clock)
    lease = api.get(LEASES, "probelet-agent-a", "system")
    assert lease is not None
    assert lease["spec"] == {
        "holderIdentity": "a_1",
        "leaseDurationSeconds": 40,
        "renewTime": "2026-11-19T11:06:40.000000Z",
    }
    assert clock.pending() == [10 * SECOND * 102 // 100]
    before = len(api.requests)
    for _ in range(3):
        clock.advance(clock.pending()[0])
        await renewed(heartbeat, clock)
    assert [verb for verb, _ in api.requests[before:]] == ["update"] * 3
    lease = api.get(LEASES, "probelet-agent-a", "system")
    assert lease is not None
    assert lease["spec"]["renewTime"] == "2026-11-19T11:07:10.600000Z"


async def test_a_lease_that_another_process_left_is_taken_over(
    api: KubeApi, connection: Connection, clock: VirtualClock
) -> None:
    api.put(LEASES, {"metadata": {"name": "l", "namespace": "system"}, "spec": {"holderIdentity": "old"}})
    heartbeat = Heartbeat(connection, "l", "system", "new", clock)
    running = asyncio.create_task(heartbeat.run())
    await renewed(heartbeat, clock)
    running.cancel()
    lease = api.get(LEASES, "l", "system")
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "new"


async def test_a_lease_that_was_deleted_or_changed_is_renewed_all_the_same(
    heartbeat: Heartbeat, api: KubeApi, clock: VirtualClock
) -> None:
    await renewed(heartbeat, clock)
    api.remove(LEASES, "probelet-agent-a", "system")
    clock.advance(11 * SECOND)
    await renewed(heartbeat, clock)
    lease = api.get(LEASES, "probelet-agent-a", "system")
    assert lease is not None
    api.put(LEASES, lease | {"spec": {"holderIdentity": "kubectl"}})
    clock.advance(11 * SECOND)
    await renewed(heartbeat, clock)
    lease = api.get(LEASES, "probelet-agent-a", "system")
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "a_1"


async def test_a_server_that_is_away_is_tried_again_within_seconds(
    heartbeat: Heartbeat, api: KubeApi, clock: VirtualClock
) -> None:
    await renewed(heartbeat, clock)
    await api.refuse()
    clock.advance(11 * SECOND)
    waits = []
    for _ in range(8):
        await until(lambda: bool(clock.pending()))
        waits.append(clock.pending()[0])
        clock.advance(waits[-1])
    assert waits == [int(0.3 * SECOND * 2**n) for n in range(6)] + [int(1.5 * LONGEST_RETRY_NS)] * 2
    await api.accept()
    await until(lambda: bool(clock.pending()))
    clock.advance(clock.pending()[0])
    await renewed(heartbeat, clock)


async def test_a_renewal_whose_answer_was_lost_is_repeated(
    heartbeat: Heartbeat, api: KubeApi, clock: VirtualClock
) -> None:
    await renewed(heartbeat, clock)
    api.faults.add(Drop(carried_out=True), "update")
    api.faults.add(Answer(500), "update")
    clock.advance(11 * SECOND)
    for _ in range(2):
        await until(lambda: bool(clock.pending()))
        clock.advance(clock.pending()[0])
    await renewed(heartbeat, clock)
