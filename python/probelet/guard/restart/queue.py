"""Restarts that passed every check and wait for a token: some places for each workload, and one that is next."""

import random
from collections.abc import Iterator

from probelet.guard.restart.state.workloads import WorkloadKey


class Queue:
    """The queue of all workloads.

    Law: a pod has at most one place. The next restart is that of a random pod of a random workload, so a workload with
    many failures does not hold up another one; without randomness it is the pod that waits longest.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._places: dict[WorkloadKey, list[str]] = {}
        self._of: dict[str, WorkloadKey] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, uid: str) -> bool:
        return uid in self._of

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def add(self, uid: str, workload: WorkloadKey) -> None:
        """Give a pod a place."""
        self._places.setdefault(workload, []).append(uid)
        self._of[uid] = workload

    def depth(self, workload: WorkloadKey) -> int:
        """How many places of a workload are taken."""
        return len(self._places.get(workload, ()))

    def depths(self) -> dict[WorkloadKey, int]:
        """The places taken of every workload that has any."""
        return {workload: len(places) for workload, places in self._places.items()}

    def drop(self, uid: str) -> WorkloadKey | None:
        """Take a pod's place; returns its workload, None if it had none."""
        workload = self._of.pop(uid, None)
        if workload is not None:
            self._places[workload].remove(uid)
            if not self._places[workload]:
                del self._places[workload]
        return workload

    def next(self, *, is_random: bool) -> str:
        """The pod whose turn it is; it keeps its place. There is one."""
        if not is_random:
            return next(iter(self._of))
        places = self._random.choice(list(self._places.values()))
        return self._random.choice(places)
