"""How long one pod took to start (kubelet ``PodStartDuration`` and ``pod_startup_latency_tracker.go``, 1.36)."""

from probelet.node.metrics.pods import PodMetrics
from probelet.policy.protocol.actions import Publish
from probelet.spec.text.duration import MILLISECOND


class PodStart:
    """Reports once that a pod runs, and once that all of its containers do."""

    def __init__(self, added_ns: int) -> None:
        self._added = added_ns
        self._pulled = 0
        self._running = False
        self._started = False

    def pulled(self, took_ns: int) -> None:
        """Adds the time of an image pull."""
        self._pulled += took_ns

    def observe(self, publish: Publish, now: int, metrics: PodMetrics) -> None:
        """Looks at a status that changed."""
        took = now - self._added
        if not self._running and publish.phase == "Running":
            self._running = True
            metrics.running(took)
        statuses = publish.containers.values()
        if not self._started and all(status.state == "running" for status in statuses if status.kind != "init"):
            self._started = True
            init = sum(s.finished_at_ms - s.started_at_ms for s in statuses if s.kind == "init" and s.finished_at_ms)
            metrics.started(took - self._pulled - init * MILLISECOND)
