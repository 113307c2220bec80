"""Turns of attempts, and commands that outlive theirs."""

import asyncio

from probelet.runtime.execs.turns import Turns


async def taken(turns: Turns) -> list[asyncio.Task[None]]:
    """Two attempts that ask for a turn, once both have asked."""
    tasks = [asyncio.create_task(turns.take()) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_a_command_that_outlives_its_attempt_keeps_the_turn_until_it_has_ended() -> None:
    turns = Turns(1)
    await turns.take()
    turns.keep()
    turns.give_back()
    assert turns.are_taken()
    first, second = await taken(turns)
    assert not first.done()
    turns.drop()
    await first
    assert not second.done()
    turns.give_back()
    await second


async def test_a_command_that_ends_before_its_attempt_keeps_nothing() -> None:
    turns = Turns(1)
    await turns.take()
    turns.keep()
    turns.drop()
    assert turns.are_taken()
    turns.give_back()
    assert not turns.are_taken()
