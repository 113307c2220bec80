"""How long pods take, with the kubelet's metric names; and series of each pod, with those of kube-state-metrics."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.histogram import Histogram
from probelet.policy.status.container_status import ContainerStatus
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND

# kubelet metrics.go, 1.36: Prometheus' default bounds for a sync, and those of pod starts.
SYNC_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
START_BOUNDS: Final = (0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200)

_NAMES: Final = ("namespace", "pod", "uid")


class KnownPod(NamedTuple):
    """A pod of the node; ``added_s`` is when it was first seen, in Unix seconds."""

    pod: Pod
    added_s: float
    statuses: Iterable[ContainerStatus]


class PodMetrics:
    """Histograms over all pods, without labels that name one."""

    def __init__(self) -> None:
        self._syncs = Histogram(
            "kubelet_pod_worker_duration_seconds", "How long syncs of pods took.", SYNC_BOUNDS, "operation_type"
        )
        self._starts = Histogram(
            "kubelet_pod_start_duration_seconds", "From the first sight of a pod to its running.", START_BOUNDS
        )
        self._own_starts = Histogram(
            "kubelet_pod_start_sli_duration_seconds",
            "From the first sight of a pod to all containers running, without pulls and init containers.",
            START_BOUNDS,
        )

    def synced(self, took_ns: int, *, first: bool) -> None:
        """Takes a sync that has ended."""
        self._syncs.observe(took_ns / SECOND, "create" if first else "sync")

    def running(self, took_ns: int) -> None:
        """Takes a pod that runs for the first time."""
        self._starts.observe(took_ns / SECOND)

    def started(self, took_ns: int) -> None:
        """Takes a pod whose containers all run for the first time; ``took_ns`` is without pulls and init containers."""
        self._own_starts.observe(max(took_ns, 0) / SECOND)

    def render(self) -> bytes:
        """The series."""
        return page(self._syncs.render(), self._starts.render(), self._own_starts.render())


def render_pods(pods: Iterable[KnownPod]) -> bytes:
    """The page ``/metrics/pods``: series with names as labels, as kube-state-metrics has them."""
    restarts: list[tuple[tuple[str, ...], int]] = []
    policies: list[tuple[tuple[str, ...], int]] = []
    starts: list[tuple[tuple[str, ...], str]] = []
    for pod, added_s, statuses in pods:
        named = (pod.metadata.namespace, pod.metadata.name, pod.metadata.uid)
        restarts += [((*named, status.name), status.restart_count) for status in statuses]
        policies.append(((*named, pod.spec.restart_policy), 1))
        starts.append((named, f"{added_s:.3f}"))
    return page(
        counter("kube_pod_container_status_restarts_total", "Restarts of a container.", restarts, *_NAMES, "container"),
        gauge("kube_pod_restart_policy", "The restart policy of a pod.", policies, *_NAMES, "type"),
        gauge("kube_pod_start_time", "When a pod was begun, Unix seconds.", starts, *_NAMES),
        gauge("kube_pod_created", "When a pod was first seen, Unix seconds.", starts, *_NAMES),
    )
