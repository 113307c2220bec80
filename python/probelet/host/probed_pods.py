"""The pods of a node or an agent as the engine's batches find them: events go to the recorder, results to the pods."""

from collections.abc import Callable, Mapping
from typing import Protocol

from probelet._rust import EventRecord, ExecRun, Update
from probelet.base.exposition.wording import EventWording, counted
from probelet.host.recorder import Recorder


class ProbedPod(Protocol):
    """The part of a pod that its results, events and syncs go to."""

    uid: str
    full_name: str

    def log_result(self, update: Update) -> None: ...
    def request_sync(self) -> None: ...


class ProbedPods:
    """Subscribes to batches (``host.batches.Subscriber``); drops each event, result and sync about a pod that is not in
    ``pods``, which are by UID. ``on_update`` gets every result."""

    def __init__(
        self,
        pods: Mapping[str, ProbedPod],
        recorder: Recorder,
        start_execs: Callable[[list[ExecRun]], None],
        wording: EventWording,
        on_update: Callable[[Update], None] | None = None,
    ) -> None:
        self.start_execs = start_execs
        self._pods = pods
        self._recorder = recorder
        self._wording = wording
        self._on_update = on_update

    def handle(self, events: list[EventRecord], updates: list[Update]) -> None:
        """Records the events, then tells the pods what results changed."""
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
        for update in updates:
            if update.result is not None and (pod := self._pods.get(update.pod_uid)):
                pod.log_result(update)
            if self._on_update is not None:
                self._on_update(update)

    def request_sync(self, uid: str) -> None:
        """The results of a pod ask for a sync."""
        if pod := self._pods.get(uid):
            pod.request_sync()
