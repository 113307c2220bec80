"""Reads the engine's batches: one file descriptor, one batch at a time, and a part of it for each part of the node."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

import structlog

from probelet._rust import Batch, Engine, ExecRun, Update
from probelet.base.exposition.wording import EventWording, counted
from probelet.host.handed_over import HandedOver
from probelet.host.recorder import Recorder
from probelet.host.timers import Timers

log = structlog.get_logger("probelet.node")


class ProbedPod(Protocol):
    """The part of a pod that its results, events and syncs go to."""

    uid: str
    full_name: str

    def note_result(self, update: Update) -> None: ...
    def request_sync(self) -> None: ...


class ExecAttempts(Protocol):
    """Starts the exec attempts that the engine hands out."""

    def start(self, execs: list[ExecRun], /) -> None: ...


class Answers(Protocol):
    """Takes answers from addresses in doubt."""

    def ask(self, answers: list[tuple[int, str, int]]) -> None: ...


class Changes:
    """Hands out the parts of each batch; it drops each part about a pod that is not in ``pods``, which are by UID.

    ``handed_over`` gives the pods of other node agents on the same engine, if there may be any; ``on_update`` gets
    every result. Within a batch events come before what follows from them: an Unhealthy event is recorded before the
    sync that kills.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        execs: ExecAttempts,
        recorder: Recorder,
        timers: Timers,
        pods: Mapping[str, ProbedPod],
        wording: EventWording,
        listeners: Answers | None = None,
        handed_over: Callable[[], HandedOver | None] = lambda: None,
        on_update: Callable[[Update], None] | None = None,
    ) -> None:
        self.events_dropped = 0
        """Events that the engine dropped because they were not read in time."""
        self._engine = engine
        self._wording = wording
        self._execs = execs
        self._recorder = recorder
        self._timers = timers
        self._pods = pods
        self._listeners = listeners
        self._handed_over = handed_over
        self._on_update = on_update
        self._watched: asyncio.AbstractEventLoop | None = None

    def watch(self) -> None:
        """Reads batches on the running loop from now on."""
        self._watched = asyncio.get_running_loop()
        self._watched.add_reader(self._engine.fileno(), self._read)

    def close(self) -> None:
        """Ends ``watch``."""
        if self._watched is not None:
            self._watched.remove_reader(self._engine.fileno())
            self._watched = None

    def _read(self) -> None:
        self.dispatch(self._engine.drain())

    def dispatch(self, batch: Batch) -> None:
        """Hands out the parts of one batch; pods that are handed over take theirs first."""
        events, updates, execs = batch.events, batch.updates, batch.execs
        if (handed_over := self._handed_over()) is not None:
            events, updates, execs = handed_over.sift(events, updates, execs)
        pods = self._pods
        for event in events:
            if pod := pods.get(event.pod_uid):
                self._recorder.record(
                    pod.uid,
                    pod.full_name,
                    event.type,
                    event.reason,
                    event.message,
                    event.field_path,
                    event.at_ms,
                    shown=counted(event) if self._wording == "counted" else "",
                )
        self.events_dropped += batch.dropped_events
        self._execs.start(execs)
        if self._listeners is not None:
            self._listeners.ask(batch.answers)
        for update in updates:
            if update.result is not None and (pod := pods.get(update.pod_uid)):
                pod.note_result(update)
            if self._on_update is not None:
                self._on_update(update)
        self.log_notices(batch)
        for token in batch.timers:
            self._timers.fire(token)
        for uid in batch.syncs:
            if pod := pods.get(uid):
                pod.request_sync()

    def log_notices(self, batch: Batch) -> None:
        """Logs the engine's own lines, also those of the last batch, after the engine has ended."""
        for notice in batch.notices:
            (log.warning if notice.is_warning else log.info)(notice.text)
