"""The content of the node's pages (``server.view.View``)."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from probelet._rust import Engine
from probelet.base.exposition.process_metrics import render_process
from probelet.host.changes import Changes
from probelet.host.recorder import Recorder
from probelet.node.aging import Aging
from probelet.node.foreign_listeners import ForeignListeners
from probelet.node.metrics.counters import Counters, Gauges
from probelet.node.metrics.crash_loop import CrashLoopMetrics
from probelet.node.metrics.pods import KnownPod, PodMetrics, render_pods
from probelet.node.pods import NodePods
from probelet.node.source.mistakes import Mistakes
from probelet.node.status import status
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.execs.counts import ExecCounts
from probelet.runtime.seen.pleg import Pleg
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.document.event import RecordedEvent
from probelet.server.status import Status
from probelet.spec.text.duration import SECOND


@dataclass(frozen=True, slots=True)
class Sources:
    """The parts of the node that the pages read."""

    node: str
    configuration: Mapping[str, Any]
    engine: Engine
    gate: RestartGate
    pods: NodePods
    changes: Changes
    recorder: Recorder
    execs: ExecCounts
    calls: RuntimeCalls
    counters: Counters
    crash_loop: CrashLoopMetrics
    pod_metrics: PodMetrics
    aging: Aging | None
    mistakes: Callable[[], Mistakes]
    listeners: ForeignListeners | None


class NodeView:
    """``pleg`` is None until the runtime is found."""

    def __init__(self, sources: Sources) -> None:
        self.pleg: Pleg | None = None
        self._of = sources

    def status(self) -> Status:
        """The status document."""
        of = self._of
        return status(
            of.pods.by_uid.values(),
            of.mistakes(),
            node=of.node,
            engine=of.engine,
            gate=of.gate,
            listeners=of.listeners,
        )

    def configz(self) -> Mapping[str, Any]:
        """The effective configuration, as read at start."""
        return self._of.configuration

    def events(self, since: int) -> list[RecordedEvent]:
        """The events kept with ``seq > since``, oldest first."""
        return self._of.recorder.events(since)

    def metrics(self) -> bytes:
        """The page ``/metrics``: the engine's series, then the node's own."""
        of = self._of
        waiting = sum(len(pod.machine.waiting_restarts()) for pod in of.pods.by_uid.values())
        loops = of.crash_loop.render(entries=of.gate.entries(of.engine.now()), waiting=waiting)
        own = of.counters.render(self._gauges())
        pages = (of.engine.metrics(), own, of.calls.render(), loops, of.pod_metrics.render(), render_process())
        return b"".join(pages)

    def metrics_pods(self) -> bytes:
        """The page ``/metrics/pods``."""
        of = self._of
        zero = of.engine.wall_ms() / 1_000 - of.engine.now() / SECOND
        known = (
            KnownPod(pod.pod, zero + pod.added_ns / SECOND, pod.machine.statuses.values())
            for pod in of.pods.by_uid.values()
        )
        return render_pods(known)

    def _gauges(self) -> Gauges:
        of, pods = self._of, self._of.pods.by_uid.values()
        return Gauges(
            pods=Counter(str(pod.machine.phase) for pod in pods),
            runtime_up=self.pleg is not None and self.pleg.error is None,
            execs=of.execs,
            pulls_waiting=sum(len(pod.machine.waits) - len(pod.machine.waiting_restarts()) for pod in pods),
            events_dropped={"engine": of.changes.events_dropped, "spam_filter": of.recorder.dropped},
            aged=None if of.aging is None else of.aging.policy,
            mistakes=of.mistakes(),
            handed_over=0 if of.pods.handed_over is None else of.pods.handed_over.pods,
        )

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``."""
        return self._of.engine.metrics_probes()

    def ready(self) -> tuple[bool, str]:
        """Whether pods are run: the runtime answers, and no drain has begun."""
        if self._of.pods.draining:
            return False, "draining"
        if self.pleg is None:
            return False, "starting"
        error = self.pleg.error
        return error is None, "" if error is None else f"runtime: {error}"
