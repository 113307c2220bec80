"""Leading under a lease: won, kept, lost, released."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import structlog
from probelet.kube.connection import Connection
from probelet.kube.kinds import LEASES
from probelet.kube.lease.leader import LeaderElection

from tests.support.kube_api import Answer, Delay, KubeApi
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until


class Candidate:
    """A candidate that runs, and says when it leads."""

    def __init__(self, connection: Connection, clock: VirtualClock, holder: str) -> None:
        self.log: list[str] = []
        self.over = asyncio.Event()
        self.election = LeaderElection(connection, "controller", "system", holder, clock, chance=lambda: 0)
        self.running = asyncio.create_task(self.election.run(self._lead))

    async def _lead(self) -> None:
        self.log.append("leads")
        try:
            await self.over.wait()
        finally:
            self.log.append("ended")

    async def stop(self) -> None:
        self.running.cancel()
        await asyncio.wait([self.running])


@pytest_asyncio.fixture
async def first(connection: Connection, clock: VirtualClock) -> AsyncIterator[Candidate]:
    first = Candidate(connection, clock, "first")
    await until(lambda: first.log == ["leads"])
    yield first
    await first.stop()


@pytest_asyncio.fixture
async def second(first: Candidate, api: KubeApi, clock: VirtualClock) -> AsyncIterator[Candidate]:
    async with api.connection() as connection:
        second = Candidate(connection, clock, "second")
        await until(lambda: second.election.leader == "first")
        yield second
        await second.stop()


async def passed(clock: VirtualClock, seconds: int) -> None:
    """Lets so many seconds pass, and all requests of each second come to their end."""
    for _ in range(seconds):
        clock.advance(SECOND)
        for _ in range(200):
            await asyncio.sleep(0)


def holder(api: KubeApi) -> str:
    lease = api.get(LEASES, "controller", "system")
    assert lease is not None
    return str(lease["spec"]["holderIdentity"])


async def test_one_of_two_leads_for_as_long_as_it_lives(
    first: Candidate, second: Candidate, api: KubeApi, clock: VirtualClock
) -> None:
    await passed(clock, 60)
    assert first.log == ["leads"]
    assert second.log == []
    assert first.election.leading
    assert (holder(api), second.election.leader) == ("first", "first")


async def test_a_clean_end_hands_the_lease_over_at_once(
    first: Candidate, second: Candidate, api: KubeApi, clock: VirtualClock
) -> None:
    await first.stop()
    assert first.log == ["leads", "ended"]
    assert not first.election.leading
    assert holder(api) == ""
    await passed(clock, 3)
    assert second.log == ["leads"]


async def test_the_end_of_the_work_ends_the_run_and_releases(
    first: Candidate, api: KubeApi, clock: VirtualClock
) -> None:
    first.over.set()
    await until(first.running.done)
    assert first.running.exception() is None
    assert holder(api) == ""


async def test_a_leader_that_cannot_renew_stops_before_another_may_begin(
    first: Candidate, second: Candidate, api: KubeApi, clock: VirtualClock
) -> None:
    await passed(clock, 4)
    await api.refuse()
    began = clock.now()
    while first.log == ["leads"]:
        await passed(clock, 1)
    assert 9 * SECOND <= clock.now() - began <= 11 * SECOND
    assert second.log == []
    await api.accept()
    await passed(clock, 20)
    assert (first.log + second.log).count("leads") == 2, "one of them leads again"


async def test_a_renewal_that_hangs_does_not_outlast_the_deadline(
    first: Candidate, api: KubeApi, clock: VirtualClock
) -> None:
    hanging = Delay(asyncio.Event())
    api.faults.add(hanging, "update", "leases", times=None)
    await passed(clock, 13)
    assert first.log == ["leads", "ended"]
    api.faults.clear()
    hanging.over.set()


async def test_a_lease_that_another_took_ends_the_lead_at_once(
    first: Candidate, api: KubeApi, clock: VirtualClock
) -> None:
    lease = api.get(LEASES, "controller", "system")
    assert lease is not None
    api.put(LEASES, lease | {"spec": lease["spec"] | {"holderIdentity": "by-hand"}})
    await passed(clock, 3)
    assert first.log == ["leads", "ended"]
    assert holder(api) == "by-hand"


async def test_a_lease_that_was_deleted_is_made_again(first: Candidate, api: KubeApi, clock: VirtualClock) -> None:
    api.remove(LEASES, "controller", "system")
    await passed(clock, 3)
    assert first.log == ["leads"]
    assert holder(api) == "first"


async def test_a_failure_of_the_work_releases_and_is_raised(connection: Connection, clock: VirtualClock) -> None:
    async def fail() -> None:
        raise RuntimeError("broken")

    election = LeaderElection(connection, "controller", "system", "a", clock)
    with pytest.raises(RuntimeError, match="broken"):
        await election.run(fail)
    assert election.leader == ""


async def test_a_lease_that_may_be_read_and_not_written_is_one_line_of_the_log(
    api: KubeApi, connection: Connection, clock: VirtualClock
) -> None:
    api.faults.add(Answer(403), "create", "leases", times=None)
    candidate = Candidate(connection, clock, "first")
    await until(lambda: clock.sleeps(3 * SECOND))
    with structlog.testing.capture_logs() as lines:
        await passed(clock, 20)
    assert lines == []
    await candidate.stop()
    assert candidate.log == []


async def test_an_answer_after_none_is_said_once(api: KubeApi, connection: Connection, clock: VirtualClock) -> None:
    answers: list[bool] = []
    election = LeaderElection(connection, "controller", "system", "a", clock, on_answer=lambda: answers.append(True))
    running = asyncio.create_task(election.run(asyncio.Event().wait))  # type: ignore[arg-type]
    await until(lambda: election.leading)
    assert answers == []
    await api.refuse()
    await passed(clock, 20)
    api.faults.add(Answer(503), "get", "leases", times=2)
    await api.accept()
    await passed(clock, 30)
    assert answers == [True]
    running.cancel()
    await asyncio.wait([running])
