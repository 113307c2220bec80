"""How long pods take, with the kubelet's metric names; and series of each pod, with those of kube-state-metrics."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from probelet.base.exposition.histogram import Histogram
from probelet.policy.status.container_status import ContainerStatus
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND

# kubelet metrics.go, 1.36: Prometheus' default bounds for a sync, and those of pod starts.
SYNC_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
START_BOUNDS: Final = (0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200)


class KnownPod(NamedTuple):
    """A pod of the node; ``added_s`` is when it was first seen, in Unix seconds."""

    pod: Pod
    added_s: float
    statuses: Iterable[ContainerStatus]


class PodMetrics:
    """Histograms over all pods, without labels that name one."""

    def __init__(self) -> None:
        self._syncs = Histogram("kubelet_pod_worker_duration_seconds", "How long syncs of pods took.", SYNC_BOUNDS)
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
        self._syncs.observe(took_ns / SECOND, f'operation_type="{"create" if first else "sync"}"')

    def running(self, took_ns: int) -> None:
        """Takes a pod that runs for the first time."""
        self._starts.observe(took_ns / SECOND)

    def started(self, took_ns: int) -> None:
        """Takes a pod whose containers all run for the first time; ``took_ns`` is without pulls and init containers."""
        self._own_starts.observe(max(took_ns, 0) / SECOND)

    def render(self) -> bytes:
        """The series."""
        lines = [*self._syncs.render(), *self._starts.render(), *self._own_starts.render()]
        return ("\n".join(lines) + "\n").encode()


def render_pods(pods: Iterable[KnownPod]) -> bytes:
    """The page ``/metrics/pods``: series with names as labels, as kube-state-metrics has them."""
    restarts, policies, starts, created = [], [], [], []
    for pod, added_s, statuses in pods:
        meta = pod.metadata
        labels = f'namespace="{meta.namespace}",pod="{meta.name}",uid="{meta.uid}"'
        for status in statuses:
            name = f'{labels},container="{status.name}"'
            restarts.append(f"kube_pod_container_status_restarts_total{{{name}}} {status.restart_count}")
        policies.append(f'kube_pod_restart_policy{{{labels},type="{pod.spec.restart_policy}"}} 1')
        starts.append(f"kube_pod_start_time{{{labels}}} {added_s:.3f}")
        created.append(f"kube_pod_created{{{labels}}} {added_s:.3f}")
    sections = (
        ("kube_pod_container_status_restarts_total", "counter", "Restarts of a container.", restarts),
        ("kube_pod_restart_policy", "gauge", "The restart policy of a pod.", policies),
        ("kube_pod_start_time", "gauge", "When a pod was begun, Unix seconds.", starts),
        ("kube_pod_created", "gauge", "When a pod was first seen, Unix seconds.", created),
    )
    lines = []
    for name, kind, text, series in sections:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *series]
    return ("\n".join(lines) + "\n").encode()
