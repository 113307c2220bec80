"""Bodies that arrive together, without a clock: which one waits, which one gives way, and how much memory they hold."""

import asyncio
from unittest.mock import MagicMock

import pytest
from aiohttp import web
from aiohttp.streams import StreamReader
from probelet.webhook.large_bodies import DisplacedError, LargeBodies

ALL, ONE = 100, 50


class Arriving:
    """A body whose pieces the test sends."""

    def __init__(self, bodies: LargeBodies) -> None:
        self.content = StreamReader(MagicMock(), ONE * 2, loop=asyncio.get_running_loop())
        self.read = asyncio.ensure_future(bodies.read(self.content))

    async def send(self, count: int, *, is_last: bool = False) -> None:
        await _turns()
        self.content.feed_data(b"x" * count)
        if is_last:
            self.content.feed_eof()
        await _turns()


async def _turns() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


async def test_any_number_of_slow_bodies_keep_no_other_one_waiting() -> None:
    bodies = LargeBodies(ALL, ONE)
    slow = [Arriving(bodies) for _ in range(ALL)]
    honest = Arriving(bodies)
    await honest.send(ONE, is_last=True)
    assert await honest.read == b"x" * ONE
    assert not any(each.read.done() for each in slow)
    for each in slow:
        each.read.cancel()
    await _turns()
    assert bodies.held == 0


async def test_the_body_that_began_first_gives_way() -> None:
    bodies = LargeBodies(ALL, ONE)
    arriving = [Arriving(bodies) for _ in range(3)]
    for each in arriving:
        await each.send(ONE - 1)
        assert bodies.held <= ALL
    assert [each.read.done() for each in arriving] == [True, False, False]
    with pytest.raises(DisplacedError):
        await arriving[0].read
    for each in arriving[1:]:
        await each.send(1, is_last=True)
        assert len(await each.read) == ONE
    assert bodies.held == 0


async def test_the_first_one_itself_may_be_the_one_too_much() -> None:
    bodies = LargeBodies(ALL, ONE)
    first, *others = [Arriving(bodies) for _ in range(3)]
    for each in others:
        await each.send(ONE)
    await first.send(1)
    with pytest.raises(DisplacedError):
        await first.read
    assert bodies.held == ALL
    for each in others:
        await each.send(0, is_last=True)
        assert len(await each.read) == ONE


async def test_one_body_has_a_bound_and_leaves_nothing() -> None:
    bodies = LargeBodies(ALL, ONE)
    body = Arriving(bodies)
    await body.send(ONE + 1)
    with pytest.raises(web.HTTPRequestEntityTooLarge):
        await body.read
    assert bodies.held == 0


async def test_a_body_that_gave_way_while_more_of_it_had_arrived_says_so() -> None:
    """A stream gives what it has before it raises."""
    bodies = LargeBodies(ALL, ONE)
    first, second, third = (Arriving(bodies) for _ in range(3))
    for each in (first, second):
        await each.send(ONE - 1)
    # In one turn of the loop a piece of the first arrives, and the third displaces it.
    third.content.feed_data(b"x" * (ONE - 1))
    first.content.feed_data(b"x")
    await _turns()
    with pytest.raises(DisplacedError):
        await first.read
    for each in (second, third):
        each.read.cancel()
    await _turns()
    assert bodies.held == 0
