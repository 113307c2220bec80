"""The content of the node's pages (``server.view.View``)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from probelet.base.exposition.process_metrics import render_process
from probelet.node.aging import Aging
from probelet.node.foreign_listeners import ForeignListeners
from probelet.node.metrics.counters import Gauges
from probelet.node.metrics.pods import KnownPod, render_pods
from probelet.node.pod import NodeParts
from probelet.node.pods import NodePods
from probelet.node.status import status
from probelet.server.document.event import RecordedEvent
from probelet.server.status import Status
from probelet.server.view import IncidentFeed
from probelet.spec.text.duration import SECOND


class NodeView:
    """``parts`` and ``pods`` are the node's; ``aging`` and ``listeners`` are None where it does without."""

    def __init__(
        self, parts: NodeParts, pods: NodePods, aging: Aging | None, listeners: ForeignListeners | None
    ) -> None:
        self._host = parts.host
        self._options = parts.options
        self._gate = parts.gate
        self._metrics = parts.metrics
        self._pods = pods
        self._aging = aging
        self._listeners = listeners

    def status(self, history: int = 0, pod: str = "") -> Status:
        """The status document."""
        found = status(
            (found for found in self._pods.by_uid.values() if pod in ("", found.pod.full_name)),
            self._options.mistakes(),
            node=self._host.node,
            engine=self._host.engine,
            gate=self._gate,
            listeners=self._listeners,
            history=history,
        )
        self._host.incidents.tell(found.head)
        self._host.drift.tell(found.head)
        return found

    @property
    def incidents(self) -> IncidentFeed:
        """The incidents of this node."""
        return self._host.incidents

    def configz(self) -> Mapping[str, Any]:
        """The effective configuration, as read at start."""
        return self._options.configuration

    def events(self, since: int) -> list[RecordedEvent]:
        """The events kept with ``seq > since``, oldest first."""
        return self._host.recorder.events(since)

    def metrics(self) -> bytes:
        """The page ``/metrics``: the engine's series, then the node's own."""
        host, of = self._host, self._metrics
        waiting = sum(len(pod.machine.waiting_restarts()) for pod in self._pods.by_uid.values())
        loops = of.crash_loop.render(entries=self._gate.entries(host.engine.now()), waiting=waiting)
        own = of.counters.render(self._gauges())
        node = (own, host.calls.render(), loops, of.pods.render())
        return b"".join(
            (host.engine.metrics(), *node, host.incidents.metrics(), host.drift.metrics(), render_process())
        )

    def metrics_pods(self) -> bytes:
        """The page ``/metrics/pods``."""
        engine = self._host.engine
        zero = engine.wall_ms() / 1_000 - engine.now() / SECOND
        known = (
            KnownPod(pod.pod, zero + pod.added_ns / SECOND, pod.statuses.values()) for pod in self._pods.by_uid.values()
        )
        return render_pods(known)

    def _gauges(self) -> Gauges:
        host, pods, handed_over = self._host, self._pods.by_uid.values(), self._host.batches.handed_over
        return Gauges(
            pods=Counter(str(pod.machine.phase) for pod in pods),
            runtime_up=host.pleg.error is None,
            execs=host.execs.counts,
            pulls_waiting=sum(len(pod.machine.waits) - len(pod.machine.waiting_restarts()) for pod in pods),
            events_dropped={"engine": host.batches.events_dropped, "spam_filter": host.recorder.dropped},
            aged=None if self._aging is None else self._aging.policy,
            mistakes=self._options.mistakes(),
            handed_over=0 if handed_over is None else handed_over.pods,
        )

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``."""
        return self._host.engine.metrics_probes()

    def ready(self) -> tuple[bool, str]:
        """Whether pods are run: the runtime answers, and no drain has begun."""
        if self._pods.draining:
            return False, "draining"
        error = self._host.pleg.error
        return error is None, "" if error is None else f"runtime: {error}"
