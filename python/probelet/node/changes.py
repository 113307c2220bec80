"""What the engine has to say: one file descriptor, one batch, everyone who waits for a part of it."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

import structlog

from probelet._rust import Batch, Engine, EventRecord, ExecRun, Update
from probelet.execs.runtime_execs import RuntimeExecs
from probelet.node.pod import NodePod
from probelet.node.recorder import Recorder
from probelet.node.releases import Releases
from probelet.node.timers import Timers
from probelet.node.wording import EventWording, counted

log = structlog.get_logger("probelet.node")


class HandedOver(Protocol):
    """Pods of other node agents that this engine probes too; their news is not the node's."""

    @property
    def pods(self) -> int: ...
    def owns(self, uid: str) -> bool: ...
    def sift(
        self, events: list[EventRecord], updates: list[Update], execs: list[ExecRun]
    ) -> tuple[list[EventRecord], list[Update], list[ExecRun]]: ...


class Changes:
    """Reads the engine's batches. ``pods`` are those of the node, by UID; others are not ours any more. ``releases``
    hear of results too, where there are any.

    In a batch events come before what they lead to: an Unhealthy is on record before the sync that kills.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        execs: RuntimeExecs,
        recorder: Recorder,
        timers: Timers,
        pods: Mapping[str, NodePod],
        releases: Releases | None,
        wording: EventWording,
    ) -> None:
        self.events_dropped = 0
        """Events that the engine had to let go because nobody read them in time."""
        self.handed_over: HandedOver | None = None
        """Whoever serves pods of others; it takes its part of each batch first."""
        self._engine = engine
        self._wording = wording
        self._execs = execs
        self._recorder = recorder
        self._timers = timers
        self._pods = pods
        self._releases = releases
        self._watched: asyncio.AbstractEventLoop | None = None

    def watch(self) -> None:
        """Read batches on the running loop from now on."""
        self._watched = asyncio.get_running_loop()
        self._watched.add_reader(self._engine.fileno(), self._read)

    def close(self) -> None:
        """Read no more."""
        if self._watched is not None:
            self._watched.remove_reader(self._engine.fileno())
            self._watched = None

    def _read(self) -> None:
        self.dispatch(self._engine.drain())

    def dispatch(self, batch: Batch) -> None:
        """Hand every part of a batch to who waits for it."""
        events, updates, execs = batch.events, batch.updates, batch.execs
        if self.handed_over is not None:
            events, updates, execs = self.handed_over.sift(events, updates, execs)
        for event in events:
            if pod := self._pods.get(event.pod_uid):
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
        for update in updates:
            if update.result is not None and (pod := self._pods.get(update.pod_uid)):
                pod.note_result(update)
            if self._releases is not None:
                self._releases.note(update)
        for level, text in batch.notices:
            (log.warning if level == "warning" else log.info)(text)
        for token in batch.timers:
            self._timers.fire(token)
        for uid in batch.syncs:
            if pod := self._pods.get(uid):
                pod.request_sync()
