"""Which workload a pod belongs to: the unit in which restarts are counted and limited."""

from collections import defaultdict
from typing import Final, NamedTuple

from probelet.beside.guard.objects.node import GuardedWorkload
from probelet.beside.guard.objects.owner import Owner
from probelet.beside.guard.objects.pod import GuardedPod

OWNERS_MAX: Final = 4
"""Steps from a pod to its root: Pod, ReplicaSet, Deployment, and whatever manages that. More is a circle."""


class WorkloadKey(NamedTuple):
    """The workload at the top of a pod's owners, or the pod itself."""

    namespace: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class Workloads:
    """The workloads of the cluster by UID."""

    def __init__(self) -> None:
        self._known: dict[str, GuardedWorkload] = {}
        self._by_key: dict[WorkloadKey, GuardedWorkload] = {}
        self._owned: defaultdict[str, set[str]] = defaultdict(set)
        """The UIDs of the workloads that another one owns."""

    def change(self, uid: str, workload: GuardedWorkload | None) -> None:
        """Take in a workload; None: it is gone."""
        before = self._known.pop(uid, None)
        if before is not None:
            self._by_key.pop(_key(before), None)
            if before.owner is not None:
                self._owned[before.owner.uid].discard(uid)
        if workload is not None:
            self._known[uid] = workload
            self._by_key[_key(workload)] = workload
            if workload.owner is not None:
                self._owned[workload.owner.uid].add(uid)

    def below(self, uid: str) -> set[str]:
        """A workload's UID, and those of the workloads that it owns."""
        found, left = set[str](), [uid]
        while left:
            each = left.pop()
            if each not in found:
                found.add(each)
                left += self._owned.get(each, ())
        return found

    def root(self, pod: GuardedPod) -> WorkloadKey:
        """The workload of a pod. An owner that is not known counts as the root: it is no kind that is watched."""
        owner: Owner | None = pod.owner
        if owner is None:
            return WorkloadKey(pod.namespace, "Pod", pod.name)
        for _ in range(OWNERS_MAX):
            known = self._known.get(owner.uid)
            if known is None or known.owner is None:
                break
            owner = known.owner
        return WorkloadKey(pod.namespace, owner.kind, owner.name)

    def get(self, key: WorkloadKey) -> GuardedWorkload | None:
        """The workload, if its kind is watched."""
        return self._by_key.get(key)


def _key(workload: GuardedWorkload) -> WorkloadKey:
    return WorkloadKey(workload.namespace, workload.kind, workload.name)
