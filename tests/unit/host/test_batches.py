"""The one reader of batches: the order of the parts, whose they are, and the count of what nobody read in time."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import asdict
from probelet._rust import Batch, Engine, EventRecord, ExecRun, Update
from probelet.host.batches import BatchReader
from probelet.host.engine_host import EngineHost
from probelet.host.timers import Timers
from probelet.policy.incidents.turn import Turn
from probelet.policy.node.restart_gate import RestartGate
from probelet.service.server import prober_service
from probelet.service.view import PagesView
from structlog.testing import capture_logs

from tests.unit.host.dropping_engine import DroppingEngine
from tests.unit.node.scripted_node import served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

PARTS = ("events", "updates", "execs", "answers", "notices", "timers", "syncs", "turns")
NONE_DROPPED = {"dropped_events": 0, "dropped_turns": 0}


def made_batch(**parts: Any) -> Batch:
    """A batch with these parts; the others are empty."""
    return cast(Batch, SimpleNamespace(**{**{name: [] for name in PARTS}, **NONE_DROPPED, **parts}))


class ScriptedEngine:
    """An engine whose batches a test writes; its descriptor is readable while one waits."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.waiting, self.bell = socket.socketpair()
        self.is_watched = False

    def put(self, batch: Batch) -> None:
        self.batches.append(batch)
        self.bell.send(b"!")

    def watch_turns(self) -> None:
        self.is_watched = True

    def fileno(self) -> int:
        return int(self.waiting.fileno())

    def drain(self) -> Batch:
        self.waiting.recv(1)
        return self.batches.pop(0)

    def close(self) -> None:
        self.waiting.close()
        self.bell.close()


class Seen:
    """A subscriber and a set of timers that write down what they get."""

    def __init__(self) -> None:
        self.order: list[Any] = []

    async def until(self, count: int) -> None:
        """Lets the loop turn until so many parts have come."""
        while len(self.order) < count:  # noqa: ASYNC110
            await asyncio.sleep(0)

    def start_execs(self, runs: list[ExecRun]) -> None:
        self.order.append(("execs", runs))

    def handle(self, events: list[EventRecord], updates: list[Update]) -> None:
        self.order.append(("news", events, updates))

    def request_sync(self, uid: str) -> None:
        self.order.append(("sync", uid))

    def fire(self, token: int) -> None:
        self.order.append(("timer", token))


@pytest.fixture
def engine() -> Iterator[ScriptedEngine]:
    with closing(ScriptedEngine()) as engine:
        yield engine


def reader_of(engine: ScriptedEngine, seen: Seen) -> BatchReader:
    reader = BatchReader(cast(Engine, engine), cast(Timers, seen))
    reader.watch(seen)
    return reader


async def test_results_come_before_the_timers_and_syncs_that_follow_from_them(engine: ScriptedEngine) -> None:
    seen = Seen()
    reader = reader_of(engine, seen)
    engine.put(made_batch(events=["e"], updates=["u"], execs=["x"], timers=[1, 2], syncs=["a", "b"], answers=["?"]))
    await seen.until(6)
    assert seen.order == [
        ("execs", ["x"]),
        ("news", ["e"], ["u"]),
        ("timer", 1),
        ("timer", 2),
        ("sync", "a"),
        ("sync", "b"),
    ]
    reader.close()


async def test_pods_that_are_handed_over_take_their_part_and_the_subscriber_gets_the_rest(
    engine: ScriptedEngine,
) -> None:
    seen = Seen()
    reader = reader_of(engine, seen)
    reader.handed_over = cast(Any, SimpleNamespace(sift=lambda *parts: tuple(part[1:] for part in parts)))
    engine.put(made_batch(events=["theirs", "e"], updates=["theirs", "u"], execs=["theirs", "x"]))
    await seen.until(2)
    assert seen.order == [("execs", ["x"]), ("news", ["e"], ["u"])]
    reader.close()


async def test_dropped_events_and_the_engines_own_lines_are_kept(engine: ScriptedEngine) -> None:
    seen = Seen()
    reader = reader_of(engine, seen)
    notice = SimpleNamespace(is_warning=True, text="the journal's disk is full")
    with capture_logs() as lines:
        for dropped in (3, 0, 4):
            engine.put(made_batch(dropped_events=dropped, notices=[notice] if dropped == 4 else []))
        await seen.until(2 * 3)
    assert reader.events_dropped == 7
    assert [(line["log_level"], line["event"]) for line in lines] == [("warning", notice.text)]
    reader.close()
    reader.close()


async def test_a_listener_gets_the_turns_of_batches_that_have_some(engine: ScriptedEngine) -> None:
    seen, turns = Seen(), list[list[Turn]]()
    reader = reader_of(engine, seen)
    assert not engine.is_watched
    turn = Turn("u", "app", "liveness", 1_700_000_000_000, False, "status", 0.5, 0.0, "statuscode: 503")
    record = SimpleNamespace(**asdict(turn))
    engine.put(made_batch(turns=[record]))
    await seen.until(2)
    reader.watch_turns(turns.append)
    assert engine.is_watched
    engine.put(made_batch())
    engine.put(made_batch(turns=[record, record], dropped_turns=7))
    await seen.until(6)
    assert (turns, reader.turns_dropped) == ([[turn, turn]], 7)
    reader.close()


async def test_after_close_nothing_is_read(engine: ScriptedEngine) -> None:
    seen = Seen()
    reader_of(engine, seen).close()
    engine.put(made_batch())
    for _ in range(10):
        await asyncio.sleep(0)
    assert seen.order == []


async def test_a_node_counts_the_events_that_its_engine_dropped(tmp_path: Path) -> None:
    engine = DroppingEngine(Engine(start_jitter=False), 3)
    async with served_node(ScriptedRuntime(), RestartGate(), tmp_path, engine=cast(Engine, engine)) as node:
        node.service.host.timers.arm(0, lambda: None)
        await node.until(lambda: engine.dropped)
        assert b'probelet_events_dropped_total{by="engine"} %d\n' % engine.dropped in node.service.view.metrics()


async def test_a_prober_service_counts_the_events_that_its_engine_dropped(tmp_path: Path) -> None:
    engine = DroppingEngine(Engine(start_jitter=False, glue=False), 3)
    host = EngineHost(cast(Engine, engine), "node-a")
    async with prober_service(tmp_path / "s", host) as pods:
        await host.timers.sleep(0)
        page = PagesView(host, pods, {}).metrics()
    assert b'probelet_events_dropped_total{by="engine"} %d\n' % engine.dropped in page
    await host.close()
