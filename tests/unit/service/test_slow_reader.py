"""A reader that is slower than the results change may miss changes, but always learns that it did."""

import asyncio
import random
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from probelet._rust import Engine
from probelet.host.engine_host import EngineHost
from probelet.service.results import Results
from probelet.service.server import prober_service
from probelet.service.v1 import prober_pb2 as pb

from tests.unit.service.caller import Caller, named


def update(container_id: str, result: str | None = "Success") -> Any:
    return SimpleNamespace(probe_type="liveness", pod_uid="u", container_id=container_id, result=result)


class Follower:
    """Follows the results as docs/serve.md describes. Raises at a gap without a reset."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {}
        self.sequence = 0
        self.resets = 0
        self._more = False

    def hear(self, message: pb.WatchResultsResponse) -> None:
        if message.reset:
            self.known = {}
            self.resets += 1
        elif self._more:
            assert message.sequence == self.sequence, "one snapshot in several messages"
        else:
            assert message.sequence == self.sequence + 1, "a silent gap"
        self.sequence, self._more = message.sequence, message.more
        self.known |= named(message.results)
        self.known = {key: result for key, result in self.known.items() if result != "RESULT_UNSPECIFIED"}


async def test_a_reader_that_is_too_slow_gets_all_results_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.results.CHANGES_KEPT", 2)
    monkeypatch.setattr("probelet.service.results.RESULTS_PER_MESSAGE", 2)
    results = Results()
    following = results.follow()
    assert (await anext(following)).reset
    taken = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    for number in range(5):
        results.change(update(f"test://{number}"))
    messages = [await taken, await anext(following), await anext(following)]
    assert [(m.sequence, m.reset, m.more, len(m.results)) for m in messages] == [
        (5, True, True, 2), (5, False, True, 2), (5, False, False, 1),
    ]  # fmt: skip
    results.change(update("test://0", None))
    assert (await anext(following)).sequence == 6
    assert results.resets == 1


@pytest.mark.parametrize("seed", range(20))
async def test_a_reader_of_any_pace_learns_of_every_gap(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.results.CHANGES_KEPT", 3)
    monkeypatch.setattr("probelet.service.results.RESULTS_PER_MESSAGE", 2)
    dice, results, follower = random.Random(seed), Results(), Follower()
    following = results.follow()
    follower.hear(await anext(following))
    for _ in range(200):
        for _ in range(dice.choice((0, 1, 1, 2, 5))):
            results.change(update(f"test://{dice.randrange(4)}", dice.choice(("Success", "Failure", None))))
        # Read up to three messages; then more changes come before the next read.
        for _ in range(dice.randrange(4)):
            if follower.sequence < results.sequence:
                follower.hear(await anext(following))
    while follower.sequence < results.sequence or follower._more:
        follower.hear(await anext(following))
    everything = {key for key in named(results.all()).items()}
    assert set(follower.known.items()) == everything


async def test_a_caller_that_does_not_read_has_a_limited_queue_and_learns_of_the_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over gRPC: the buffers of the transport fill first, then the queue of the reader overflows."""
    monkeypatch.setattr("probelet.service.results.CHANGES_KEPT", 100)
    with closing(Engine(glue=False)) as engine:
        async with prober_service(tmp_path / "s", EngineHost(engine, "node-a")) as prober:
            caller, follower = Caller(tmp_path / "s"), Follower()
            stream = caller.watch_results()
            follower.hear(await stream.read())
            long = "x" * 1_000
            number = 0
            while not prober.results.resets:
                # Make many changes in each turn of the event loop, and read none of them.
                for _ in range(200):
                    number += 1
                    prober.results.change(update(f"test://{number % 7}-{long}", "Success" if number % 3 else None))
                await asyncio.sleep(0)
            last = prober.results.sequence
            while follower.sequence < last:
                follower.hear(await stream.read())
            assert follower.resets > 1
            assert follower.known == await caller.results()
            await caller.channel.close()
