"""The engine's pods of each caller, and their limits.

A worker keeps the pod of the AddPod that made it, and ends only after its attempt in flight. So a pod that was removed,
or given other containers, still counts for as long as the engine has workers of it.
"""

from itertools import islice
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from probelet.service.error import RequestError
from probelet.service.limit import CONTAINERS_MAX, HELD_BYTES_MAX, HELD_CONTAINERS_MAX, PODS_MAX
from probelet.service.pod import CheckedPod

LOOKS_MAX: Final = 1_000
"""How many removed pods the service looks for in the engine together, at most once in ``LOOK_NS``."""

LOOK_NS: Final = 1_000_000_000

Probe = tuple[str, str]
"""Container and type."""


class Workers(Protocol):
    """The part of ``Engine`` that lists a pod's workers and tells the time."""

    def now(self) -> int: ...
    def probe_states(self, uid: str | None = None) -> bytes: ...


class _Worker(msgspec.Struct):
    container: str
    type: str


class Held(msgspec.Struct, frozen=True):
    """The memory that the engine has of one pod."""

    namespace: str = ""
    name: str = ""
    pod_bytes: int = 0
    pod_containers: int = 0
    status_bytes: int = 0
    status_containers: int = 0
    worker_bytes: int = 0
    """Bytes of the pods that made the workers."""
    probes: frozenset[Probe] = frozenset()
    """The probes that may have workers."""

    @property
    def bytes(self) -> int:
        """All bytes."""
        return self.pod_bytes + self.status_bytes + self.worker_bytes

    @property
    def containers(self) -> int:
        """All containers; each probe counts as one, because its worker takes about as much memory."""
        return self.pod_containers + self.status_containers + len(self.probes)


class Holdings:
    """Each pod that is known, by its UID, and the pods that are forgotten and still have workers."""

    def __init__(self, workers: Workers) -> None:
        self.known: dict[str, Held] = {}
        """The pods with an object or a status."""
        self._workers = workers
        self._leaving: dict[str, Held] = {}
        self._bytes = 0
        self._containers = 0
        # The engine's time of the last look.
        self._looked: int | None = None

    def with_pod(self, uid: str, pod: CheckedPod) -> Held:
        """Returns the holdings with this pod. Raises RequestError if that is too much."""
        old = self._of(uid)
        if not pod.probes <= old.probes:
            old = self._with_workers(uid, old)
        named = replace(old, namespace=pod.namespace, name=pod.name)
        new = replace(named, pod_bytes=pod.bytes, pod_containers=pod.containers)
        if not pod.probes <= old.probes:
            probes = old.probes | pod.probes
            new = replace(new, probes=probes, worker_bytes=old.worker_bytes + pod.bytes)
            if len({container for container, _ in probes}) > CONTAINERS_MAX:
                raise RequestError(
                    "RESOURCE_EXHAUSTED", f"the pod's UID has workers of {CONTAINERS_MAX} other containers"
                )
        return self._checked(uid, new)

    def with_status(self, uid: str, status: bytes, containers: int) -> Held:
        """Returns the holdings with this status. Raises RequestError if that is too much."""
        return self._checked(uid, replace(self._of(uid), status_bytes=len(status), status_containers=containers))

    def keep(self, uid: str, held: Held) -> None:
        """Notes what the engine has taken."""
        self._count(self._leaving.pop(uid, Held()), -1)
        self._count(self.known.get(uid, Held()), -1)
        self.known[uid] = held
        self._count(held, 1)

    def forget(self, uid: str) -> None:
        """Notes that the engine has forgotten the pod, except for its workers."""
        held = self.known.pop(uid, None)
        if held is None:
            return
        self._count(held, -1)
        if held.probes:
            left = Held(worker_bytes=held.worker_bytes, probes=held.probes)
            self._leaving[uid] = left
            self._count(left, 1)

    def _of(self, uid: str) -> Held:
        return self.known.get(uid) or self._leaving.get(uid) or Held()

    def _with_workers(self, uid: str, held: Held) -> Held:
        """With the workers that the pod has in truth: those of a pod that was removed may have ended."""
        if not held.probes:
            return held
        alive = self._alive(uid)
        return replace(held, probes=alive, worker_bytes=held.worker_bytes if alive else 0)

    def _alive(self, uid: str) -> frozenset[Probe]:
        found = msgspec.json.decode(self._workers.probe_states(uid), type=list[_Worker])
        return frozenset((worker.container, worker.type) for worker in found)

    def _checked(self, uid: str, new: Held) -> Held:
        if self._excess(uid, new):
            self._look()
        if excess := self._excess(uid, new):
            raise RequestError("RESOURCE_EXHAUSTED", excess)
        return new

    def _look(self) -> None:
        """Drops pods whose workers have ended. It takes the others last at its next turns."""
        now = self._workers.now()
        if self._looked is not None and now - self._looked < LOOK_NS:
            return
        self._looked = now
        for uid in list(islice(self._leaving, LOOKS_MAX)):
            held = self._leaving.pop(uid)
            if self._alive(uid):
                self._leaving[uid] = held
            else:
                self._count(held, -1)

    def _excess(self, uid: str, new: Held) -> str:
        """The limit that ``new`` would exceed, in words; empty if there is none."""
        old = self._of(uid)
        if uid not in self.known and uid not in self._leaving and len(self.known) + len(self._leaving) >= PODS_MAX:
            return f"{PODS_MAX} pods are known already"
        # A pod that needs no more than before is taken, so that a caller can always make room.
        if new.bytes > old.bytes and self._bytes - old.bytes + new.bytes > HELD_BYTES_MAX:
            return f"all pods and statuses together have {HELD_BYTES_MAX} bytes already"
        if new.containers > old.containers and self._containers - old.containers + new.containers > HELD_CONTAINERS_MAX:
            return f"all pods and statuses together have {HELD_CONTAINERS_MAX} containers already"
        return ""

    def _count(self, held: Held, sign: int) -> None:
        self._bytes += sign * held.bytes
        self._containers += sign * held.containers
