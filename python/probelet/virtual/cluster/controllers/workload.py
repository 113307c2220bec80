"""A workload: its versions and its pods."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.behaviour import Behaviour
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.objects.model import WorkloadSpec

UNKEPT: Final = ("Pod", "Job", "CronJob")
"""Kinds whose pod nobody replaces here."""


@dataclass
class Version:
    """A revision of a workload: its template, and how the containers of its pods behave."""

    number: int
    """From 1."""
    template: Pod
    behaviours: dict[str, Behaviour]
    """By container, for the containers that ``VirtualCluster.behave`` named."""


@dataclass
class Workload:
    """A workload and its live pods."""

    kind: str
    name: str
    """The workload's name in the cluster."""
    spec: WorkloadSpec
    versions: list[Version]
    pods: dict[str, ClusterPod] = field(default_factory=dict)
    """By UID, in the order in which they were created; terminating ones among them, gone ones not."""
    created: int = 0
    """How many pods it has made so far."""
    restarts_before: int = 0
    """The restarts of pods that are gone."""
    progress: tuple[int, ...] = ()
    """The numbers at the last progress of the rollout."""
    progress_ns: int = 0
    is_overdue: bool = False
    """Whether the rollout has missed its progress deadline."""

    @property
    def current(self) -> Version:
        """The newest version."""
        return self.versions[-1]

    @property
    def wanted(self) -> int:
        """How many pods it should have, without those of a DaemonSet."""
        if self.kind in UNKEPT or self.spec.replicas is None:
            return 1
        return max(self.spec.replicas, 0)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its newest pods."""
        return self.current.template.metadata.labels

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.current.template.metadata.namespace

    def active(self) -> list[ClusterPod]:
        """The pods that are not being deleted."""
        return [pod for pod in self.pods.values() if not pod.is_terminating]

    def available_at(self, pod: ClusterPod) -> int | None:
        """When a pod counts as available; None unless it is ready."""
        return pod.ready_since + self.spec.min_ready_seconds * SECOND if pod.is_ready else None

    def is_available(self, pod: ClusterPod, now: int) -> bool:
        """Whether a pod has been ready for ``minReadySeconds``."""
        moment = self.available_at(pod)
        return moment is not None and moment <= now

    def available(self, pods: list[ClusterPod], now: int) -> int:
        """How many of these pods are available."""
        return sum(self.is_available(pod, now) for pod in pods)

    def next_available(self, now: int) -> int | None:
        """When another pod becomes available if it stays ready; None if none does."""
        moments = [self.available_at(pod) for pod in self.active()]
        return min((moment for moment in moments if moment is not None and moment > now), default=None)


class Actions(Protocol):
    """The actions that a controller can take."""

    @property
    def now(self) -> int:
        """Nanoseconds since t = 0."""

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes."""

    def create(self, workload: Workload, version: Version, name: str, node: str | None) -> None:
        """Make a pod of that version and name, on that node or on the one with the fewest pods."""

    def delete(self, pod: ClusterPod) -> None:
        """Delete a pod."""

    def event(self, workload: Workload, reason: str, message: str) -> None:
        """An event of a workload."""


def fewest_lost_first(pods: list[ClusterPod]) -> list[ClusterPod]:
    """The pods in the order in which a ReplicaSet deletes them: not ready ones first, then the ones that became ready
    last, that restarted most, that are newest (pkg/controller/controller_utils.go:ActivePodsWithRanks, 1.36)."""
    newest = {pod.uid: -index for index, pod in enumerate(pods)}
    return sorted(pods, key=lambda pod: (pod.is_ready, -pod.ready_since, -pod.restarts, newest[pod.uid]))
