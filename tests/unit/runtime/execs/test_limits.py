"""The opt-ins of exec attempts: fewer at once, one at a time per worker, given up before the kubelet would."""

import asyncio

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.runtime.execs.rig import Rig, run


async def test_without_opt_ins_everything_is_asked_at_once(rig: Rig) -> None:
    rig.runtime.held["exec_sync"] = asyncio.Event()
    execs = rig.execs()
    execs.start([run(number) for number in range(20)])
    assert len(await rig.asked(20)) == 20
    assert (execs.counts.in_flight, execs.counts.waiting, execs.counts.waited) == (20, 0, 0)
    rig.runtime.held["exec_sync"].set()
    assert len(await rig.answers.count(20)) == 20
    assert execs.counts.in_flight == 0


async def test_the_attempt_that_has_waited_longest_gets_the_next_turn(rig: Rig) -> None:
    rig.runtime.held["exec_sync"] = asyncio.Event()
    execs = rig.execs(max_in_flight=1)
    execs.start([run(number) for number in range(6)])
    assert await rig.asked(1) == ["probe0"]
    assert (execs.counts.in_flight, execs.counts.waiting) == (1, 5)
    rig.runtime.held["exec_sync"].set()
    await rig.answers.count(6)
    assert await rig.asked(6) == [f"probe{number}" for number in range(6)]
    assert (execs.counts.in_flight, execs.counts.waiting, execs.counts.waited) == (0, 0, 5)
    assert execs.counts.waited_ns > 0


async def test_an_error_gives_its_turn_back(rig: Rig) -> None:
    rig.runtime.refuse["exec_sync"] = errors.RuntimeRefused("broken")
    execs = rig.execs(max_in_flight=1)
    execs.start([run(number) for number in range(3)])
    assert await rig.answers.count(3) == [(0, "error"), (1, "error"), (2, "error")]


async def test_a_deadline_of_the_client_makes_a_run_that_hangs_a_timeout(rig: Rig) -> None:
    rig.runtime.held["exec_sync"] = asyncio.Event()
    execs = rig.execs(client_deadline=0.05)
    execs.start([run(1, timeout=0)])
    assert await rig.answers.count(1) == [(1, "timeout")]
    assert rig.answers.finished[0].output.startswith(b'command timed out: "probe1" timed out after ')


class TestSingleFlight:
    async def test_no_run_is_started_behind_one_that_hangs(self, rig: Rig) -> None:
        rig.runtime.held["exec_sync"] = asyncio.Event()
        execs = rig.execs(single_flight=True, client_deadline=0.05)
        execs.start([run(1, "w", timeout=0)])
        await rig.answers.count(1)
        assert execs.counts.hanging == 1
        execs.start([run(2, "w", timeout=0)])
        assert await rig.answers.count(2) == [(1, "timeout"), (2, "timeout")]
        assert execs.counts.held_back == 1
        assert await rig.asked(1) == ["probe1"]

    async def test_another_worker_is_not_held_back(self, rig: Rig) -> None:
        rig.runtime.held["exec_sync"] = asyncio.Event()
        execs = rig.execs(single_flight=True, client_deadline=0.05)
        execs.start([run(1, "w", timeout=0), run(2, "v", timeout=0)])
        assert sorted(await rig.asked(2)) == ["probe1", "probe2"]

    async def test_when_the_runtime_ends_it_the_worker_goes_on(self, rig: Rig) -> None:
        rig.runtime.held["exec_sync"] = asyncio.Event()
        rig.runtime.exec_answers["probe2",] = api_pb2.ExecSyncResponse(exit_code=0)
        execs = rig.execs(single_flight=True, client_deadline=0.05)
        execs.start([run(1, "w", timeout=0)])
        await rig.answers.count(1)
        rig.runtime.held["exec_sync"].set()
        while execs.counts.hanging:
            await rig.client.version()
        execs.start([run(2, "w", timeout=5)])
        assert await rig.answers.count(2) == [(1, "timeout"), (2, "exit")]

    async def test_a_run_that_waited_for_the_earlier_one_is_started_when_that_ends_in_time(self, rig: Rig) -> None:
        rig.runtime.held["exec_sync"] = asyncio.Event()
        execs = rig.execs(single_flight=True, client_deadline=0.05)
        execs.start([run(1, "w", timeout=0)])
        await rig.answers.count(1)
        execs.start([run(2, "w", timeout=9)])
        await rig.client.version()
        rig.runtime.held["exec_sync"].set()
        assert await rig.answers.count(2) == [(1, "timeout"), (2, "exit")]
        assert execs.counts.held_back == 0
