"""Which containers are restarted because of their age, and when (``maxContainerAge``).

Sans-IO: the node passes its pods from time to time and restarts the containers that come back.

Rules
 1. A container is due once it has run for ``maxContainerAge`` less a share of its own: up to a quarter, derived from
    the pod's UID and the container's name. So the containers of one rollout restart at different times, and at the
    same times on every look and after a restart of probelet.
 2. Pods that replace each other form a group: the same controller (ownerReference), else the same namespace and
    labels. A restart begins only while every pod of the group on this node is ready, and until the restarted pod is
    ready again, no other pod of the group restarts. So a container that does not come back ends the restarts of its
    group, as it ends a rollout.
 3. Every restart takes a token. The oldest claim comes first; without a token every claim waits.
 4. Only a container with restartPolicy Always restarts for its age. A job that runs for long is not old.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

import msgspec

from probelet.policy.messages import go_duration
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import MILLISECOND, SECOND

EARLIEST_SHARE: Final = 4
"""A container restarts early by up to one part in this many of the age: a day's restarts spread over six hours."""


class Budget(Protocol):
    """The token bucket that restarts are taken from (``probelet._rust.TokenBucket``)."""

    def take(self, now_ns: int, tokens: int = 1) -> bool:
        """Take a token; False if there was none."""


class AgingContainer(msgspec.Struct, frozen=True):
    """A running container as the pod's status shows it; ``started_at_ms`` is Unix milliseconds."""

    name: str
    id: str
    started_at_ms: int


class AgingPod(msgspec.Struct, frozen=True):
    """A pod as it was last published. ``running`` has only the containers that may restart for their age."""

    uid: str
    group: str
    running: tuple[AgingContainer, ...]
    ready: Callable[[], bool]


class AgeRestart(msgspec.Struct, frozen=True):
    """A container to restart now; ``age_ns`` is how long it has run."""

    uid: str
    name: str
    container_id: str
    age_ns: int


class _Claim(msgspec.Struct, frozen=True):
    due_ns: int
    uid: str
    name: str
    container_id: str
    age_ns: int


class ContainerAge:
    """Decides. Times are nanoseconds on one clock; only the first look at a container reads its wall clock time."""

    def __init__(self, max_age_ns: int, budget: Budget) -> None:
        self.max_age_ns = max_age_ns
        self.waiting_for_group = 0
        """Containers that were due at the last decision and waited for the pods of their group."""
        self.waiting_for_budget = 0
        """Containers that were due at the last decision and waited for a token."""
        self._budget = budget
        # When each running container was started, on the clock of ``now``, by its id.
        self._started_ns: dict[str, int] = {}
        # Restarts under way, by the pod's UID: the name and the id of the container to replace.
        self._under_way: dict[str, tuple[str, str]] = {}

    def decide(self, now: int, wall_ms: int, pods: Iterable[AgingPod]) -> list[AgeRestart]:
        """The containers to restart now, the oldest claim first. ``pods`` are all of the node."""
        known = {pod.uid: pod for pod in pods}
        self._record_starts(now, wall_ms, known.values())
        self._record_ends(known)
        groups: dict[str, list[AgingPod]] = {}
        for pod in known.values():
            groups.setdefault(pod.group, []).append(pod)
        free: dict[str, bool] = {}
        self.waiting_for_group = self.waiting_for_budget = 0
        restarts = []
        for claim in sorted(self._claims(now, known.values()), key=lambda claim: (claim.due_ns, claim.uid, claim.name)):
            group = known[claim.uid].group
            if group not in free:
                free[group] = all(pod.uid not in self._under_way and pod.ready() for pod in groups[group])
            if not free[group]:
                self.waiting_for_group += 1
            elif not self._budget.take(now):
                self.waiting_for_budget += 1
            else:
                free[group] = False
                self._under_way[claim.uid] = (claim.name, claim.container_id)
                restarts.append(AgeRestart(claim.uid, claim.name, claim.container_id, claim.age_ns))
        return restarts

    def _record_starts(self, now: int, wall_ms: int, pods: Iterable[AgingPod]) -> None:
        started = {}
        for pod in pods:
            for container in pod.running:
                age_ms = max(wall_ms - container.started_at_ms, 0)
                started[container.id] = self._started_ns.get(container.id, now - age_ms * MILLISECOND)
        self._started_ns = started

    def _record_ends(self, pods: dict[str, AgingPod]) -> None:
        """A restart is over when the pod is ready with another instance, or gone."""
        for uid, (name, container_id) in list(self._under_way.items()):
            pod = pods.get(uid)
            if pod is None or (_runs_anew(pod, name, container_id) and pod.ready()):
                del self._under_way[uid]

    def _claims(self, now: int, pods: Iterable[AgingPod]) -> Iterator[_Claim]:
        for pod in pods:
            if pod.uid in self._under_way:
                continue
            for container in pod.running:
                started = self._started_ns[container.id]
                due = started + allowed_ns(self.max_age_ns, pod.uid, container.name)
                if due <= now:
                    yield _Claim(due, pod.uid, container.name, container.id, now - started)


def _runs_anew(pod: AgingPod, name: str, container_id: str) -> bool:
    return any(container.name == name and container.id != container_id for container in pod.running)


def allowed_ns(max_age_ns: int, uid: str, container: str) -> int:
    """How long this container may run: the age, less its own share of the last quarter."""
    digest = hashlib.blake2b(f"{uid}/{container}".encode(), digest_size=8).digest()
    return max_age_ns - (max_age_ns // EARLIEST_SHARE * int.from_bytes(digest) >> 64)


def group_of(pod: Pod) -> str:
    """The group of a pod: the pods of its controller, else the pods of its namespace with equal labels."""
    meta = pod.metadata
    for owner in meta.owner_references:
        if owner.controller:
            return f"controller {owner.uid or f'{meta.namespace}/{owner.kind}/{owner.name}'}"
    return f"labels {meta.namespace} {sorted(meta.labels.items())}"


def reached_age(container: str, age_ns: int, max_age_ns: int) -> str:
    """The Killing event of a container that restarts for its age, without the restart suffix."""
    age, limit = (go_duration(ns // SECOND * SECOND or ns) for ns in (age_ns, max_age_ns))
    return f"Container {container} has run for {age} (maxContainerAge {limit})"
