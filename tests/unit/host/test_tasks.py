"""A task that fails makes the service fail; a cancelled task does not."""

import asyncio

import pytest
from probelet.host.tasks import Tasks


async def test_waiting_for_a_failure_raises_the_first_one() -> None:
    tasks = Tasks()

    async def break_down() -> None:
        raise LookupError("no such thing")

    tasks.spawn(break_down())
    with pytest.raises(LookupError, match="no such thing"):
        await tasks.failure()


async def test_closing_cancels_every_task_and_waits_for_its_end() -> None:
    tasks = Tasks()
    ended = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    task = tasks.spawn(wait())
    await asyncio.sleep(0)
    await tasks.close()
    assert (ended, len(tasks), task.cancelled()) == ([True], 0, True)
