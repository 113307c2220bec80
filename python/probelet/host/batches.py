"""Reads the engine's batches: one file descriptor, one batch at a time, and a part of it for each subscriber."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import structlog

from probelet._rust import Batch, Engine, EnteredExec, EventRecord, ExecRun, TurnRecord, Update
from probelet.host.timers import Timers
from probelet.policy.incidents.turn import Turn

log = structlog.get_logger("probelet.node")


class Subscriber(Protocol):
    """Handles what a batch says about the pods of its owner."""

    def start_execs(self, runs: list[ExecRun], /) -> None:
        """Begins exec attempts that the engine hands out."""

    def handle(self, events: list[EventRecord], updates: list[Update], /) -> None:
        """Handles events, which come before the results and syncs that follow from them, and results that changed."""

    def request_sync(self, uid: str, /) -> None:
        """The results of a pod ask for a sync."""


class HandedOver(Protocol):
    """The pods that other node agents hand over to be probed by a node's engine: takes its part of each batch, and the
    node's subscriber gets the rest."""

    @property
    def pods(self) -> int: ...
    def owns(self, uid: str) -> bool: ...
    def sift(
        self, events: list[EventRecord], updates: list[Update], execs: list[ExecRun]
    ) -> tuple[list[EventRecord], list[Update], list[ExecRun]]: ...


class BatchReader:
    """The one reader of an engine. Timers fire after the results of their batch, and before its syncs."""

    def __init__(self, engine: Engine, timers: Timers) -> None:
        self.events_dropped = 0
        """Events that the engine dropped because they were not read in time."""
        self.turns_dropped = 0
        """Turns that the engine dropped for the same reason."""
        self.handed_over: HandedOver | None = None
        """The pods of other node agents on the same engine, if there may be any."""
        self.on_answers: Callable[[list[tuple[int, str, int]]], None] | None = None
        """Handles answers from addresses in doubt (``Engine.doubt``); an engine without doubts has none."""
        self.on_entered: Callable[[list[EnteredExec]], None] | None = None
        """Handles what became of commands of ``Engine.enter_exec``; an engine without a helper has none."""
        self._engine = engine
        self._timers = timers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_turns: Callable[[list[Turn]], None] | None = None

    def watch_turns(self, listener: Callable[[list[Turn]], None]) -> None:
        """From now on the engine notes the attempts that say something new (``TurnRecord``). ``listener`` gets those of
        each batch that has some, of all pods of the engine, also of pods that are handed over. Without a listener the
        engine notes none."""
        self._on_turns = listener
        self._engine.watch_turns()

    def watch(self, subscriber: Subscriber) -> None:
        """Reads batches on the running loop from now on."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._engine.fileno(), lambda: self._dispatch(self._engine.drain(), subscriber))

    def close(self) -> None:
        """Ends ``watch``."""
        if self._loop is not None:
            self._loop.remove_reader(self._engine.fileno())
            self._loop = None

    def _dispatch(self, batch: Batch, subscriber: Subscriber) -> None:
        events, updates, execs = batch.events, batch.updates, batch.execs
        if self.handed_over is not None:
            events, updates, execs = self.handed_over.sift(events, updates, execs)
        self.events_dropped += batch.dropped_events
        self.turns_dropped += batch.dropped_turns
        subscriber.start_execs(execs)
        if self._on_turns is not None and (turns := batch.turns):
            self._on_turns(list(map(_turn, turns)))
        if self.on_entered is not None:
            self.on_entered(batch.entered)
        if self.on_answers is not None:
            self.on_answers(batch.answers)
        subscriber.handle(events, updates)
        self.log_notices(batch)
        for token in batch.timers:
            self._timers.fire(token)
        for uid in batch.syncs:
            subscriber.request_sync(uid)

    def log_notices(self, batch: Batch) -> None:
        """Logs the engine's own lines, also those of the last batch, after the engine has ended."""
        for notice in batch.notices:
            (log.warning if notice.is_warning else log.info)(notice.text)


def _turn(record: TurnRecord) -> Turn:
    return Turn(
        record.pod_uid,
        record.container,
        record.probe_type,
        record.at_ms,
        record.is_good,
        record.cause,
        record.lateness_ms,
        record.overdue_ms,
        record.message,
    )
