import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.daemon.signals import SIGNALS, Lifetime


class Left(list[int]):
    """The exit codes that ``leave`` got."""


@pytest.fixture
def left() -> Left:
    return Left()


@pytest_asyncio.fixture
async def lifetime(left: Left) -> AsyncIterator[Lifetime]:
    with Lifetime(left.append) as entered:
        yield entered


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("number", SIGNALS)
async def test_the_first_signal_is_the_reason_for_the_end(lifetime: Lifetime, number: signal.Signals) -> None:
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), number)
    assert await lifetime.wait(None, forever()) == number.name


async def test_a_signal_before_the_wait_counts(lifetime: Lifetime) -> None:
    lifetime.handle(signal.SIGTERM)
    assert await lifetime.wait(None, forever()) == "SIGTERM"


async def test_the_end_of_the_time_is_the_reason_for_the_end(lifetime: Lifetime) -> None:
    assert await lifetime.wait(0.001, forever()) == "end of --duration"


async def test_work_that_fails_is_raised_and_the_rest_is_cancelled(lifetime: Lifetime) -> None:
    cancelled = []

    async def patient() -> None:
        try:
            await forever()
        finally:
            cancelled.append(True)

    async def broken() -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await lifetime.wait(None, patient(), broken())
    assert cancelled == [True]


async def test_work_is_cancelled_at_the_end(lifetime: Lifetime) -> None:
    work = asyncio.Event()

    async def part() -> None:
        try:
            await forever()
        finally:
            work.set()

    asyncio.get_running_loop().call_soon(lifetime.handle, signal.SIGINT)
    await lifetime.wait(None, part())
    assert work.is_set()


async def test_a_drain_without_a_signal_returns_its_result(lifetime: Lifetime) -> None:
    async def drain() -> list[str]:
        return ["default/stuck"]

    lifetime.handle(signal.SIGTERM)
    assert await lifetime.unless_hurried(drain()) == ["default/stuck"]


async def test_a_second_signal_does_not_wait_for_the_drain(lifetime: Lifetime, left: Left) -> None:
    async def drain() -> list[str]:
        await forever()
        return []

    lifetime.handle(signal.SIGTERM)
    asyncio.get_running_loop().call_soon(lifetime.handle, signal.SIGINT)
    assert await lifetime.unless_hurried(drain()) == signal.SIGINT
    assert left == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_third_signal_leaves(lifetime: Lifetime, left: Left, number: signal.Signals, code: int) -> None:
    lifetime.handle(signal.SIGTERM)
    lifetime.handle(signal.SIGTERM)
    assert left == []
    lifetime.handle(number)
    assert left == [code]


async def test_after_the_run_signals_have_their_default_effect() -> None:
    with Lifetime(lambda _: None):
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
