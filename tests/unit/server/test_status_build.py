"""One build of the status document for many readers, none of which gets a state from before it asked."""

import asyncio

import msgspec
import pytest
from probelet.server.status import OneAtATime, SharedBuild, Status, in_pieces, status_json


async def test_readers_share_a_build_that_begins_after_they_asked() -> None:
    state, builds, may_end = "old", 0, asyncio.Event()

    async def build() -> str:
        nonlocal builds
        builds += 1
        seen = state
        await may_end.wait()
        return seen

    shared = SharedBuild(build)
    first = asyncio.ensure_future(shared.get())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    state = "new"
    later = [asyncio.ensure_future(shared.get()) for _ in range(50)]
    await asyncio.sleep(0)
    later.pop().cancel()
    may_end.set()
    assert await first == "old"
    assert set(await asyncio.gather(*later)) == {"new"}
    assert builds == 2


async def test_a_build_that_fails_fails_its_readers_and_not_the_next() -> None:
    outcomes = [ValueError("once"), None]

    async def build() -> str:
        if error := outcomes.pop(0):
            raise error
        return "well"

    shared = SharedBuild(build)
    failed = await asyncio.gather(shared.get(), shared.get(), return_exceptions=True)
    assert [str(error) for error in failed] == ["once", "once"]
    assert await shared.get() == "well"


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_the_json_is_the_document(count: int) -> None:
    def status() -> Status:
        return Status({"schema": "s", "node": 'n"]}'}, ({"name": f"p{number}"} for number in range(count)))

    assert msgspec.json.decode(await status_json(status())) == status().document()


async def test_many_readers_get_one_page_in_a_turn_of_the_loop() -> None:
    turn, made_in = 0, list[int]()

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    pages = OneAtATime()
    await asyncio.gather(*(pages.make(lambda: made_in.append(turn)) for _ in range(20)))
    counting.cancel()
    assert len(set(made_in)) == 20


async def test_a_document_is_made_in_pieces_between_which_the_loop_works() -> None:
    seconds = iter(range(1_000_000))
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    working = asyncio.ensure_future(work())
    assert await in_pieces(iter("abcdef"), lambda: next(seconds)) == list("abcdef")
    assert turns >= 6
    working.cancel()
