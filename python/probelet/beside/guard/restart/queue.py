"""Restarts that passed every check and wait for a token: some places for each workload, and one that is next."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from probelet.beside.guard.objects.node_probes import PUBLISHED_NS
from probelet.beside.guard.restart.state.workloads import WorkloadKey

GATHER_NS: Final = PUBLISHED_NS
"""No failure leads to a restart sooner than this after it became known, so that failures that happen at once are all
known to the breakers before the first restart."""


@dataclass(slots=True)
class _Places:
    """The places of one workload: the moment from which each may be next, by UID, in order of arrival."""

    from_ns: dict[str, int] = field(default_factory=dict)


class Queue:
    """The queue of all workloads.

    Law: a pod has at most one place. The next restart is that of a random pod of a random workload, so a workload with
    many failures does not hold up another one; without randomness it is the pod that came first.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._places: dict[WorkloadKey, _Places] = {}
        self._of: dict[str, WorkloadKey] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, uid: str) -> bool:
        return uid in self._of

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def add(self, uid: str, workload: WorkloadKey, from_ns: int) -> None:
        """Give a pod a place; it may be next from that moment on."""
        self._places.setdefault(workload, _Places()).from_ns[uid] = from_ns
        self._of[uid] = workload

    def depth(self, workload: WorkloadKey) -> int:
        """How many places of a workload are taken."""
        places = self._places.get(workload)
        return 0 if places is None else len(places.from_ns)

    def depths(self) -> dict[WorkloadKey, int]:
        """The places taken of every workload that has any."""
        return {workload: len(places.from_ns) for workload, places in self._places.items()}

    def drop(self, uid: str) -> WorkloadKey | None:
        """Take a pod's place; returns its workload, None if it had none."""
        workload = self._of.pop(uid, None)
        if workload is not None:
            places = self._places[workload].from_ns
            del places[uid]
            if not places:
                del self._places[workload]
        return workload

    def due(self) -> int | None:
        """When some pod may be next; None for an empty queue."""
        return min((at for places in self._places.values() for at in places.from_ns.values()), default=None)

    def next(self, now: int, *, is_random: bool) -> str | None:
        """The pod whose turn it is; it keeps its place. None if none may be next yet."""
        ready = [[uid for uid, at in places.from_ns.items() if at <= now] for places in self._places.values()]
        ready = [uids for uids in ready if uids]
        if not ready:
            return None
        if is_random:
            return self._random.choice(self._random.choice(ready))
        eligible = {uid for uids in ready for uid in uids}
        return next(uid for uid in self._of if uid in eligible)
