"""The restarts under way: from the decision until the new container is ready."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from probelet.beside.guard.objects.budget import BudgetKey
from probelet.beside.guard.restart.protocol.inputs import RequestKey
from probelet.beside.guard.restart.state.workloads import WorkloadKey

SETTLE_NS: Final = 60_000_000_000
"""A container that is not ready so long after its request completed no longer counts as our doing (R-12)."""
UNSEEN_NS: Final = 60_000_000_000
"""A request that the API server took and nobody has seen for so long is not there."""


@dataclass(slots=True)
class Flight:
    """The restart of one container. A pod has at most one (R-7)."""

    uid: str
    workload: WorkloadKey
    request: RequestKey
    container: str
    container_id: str
    """The instance that goes down."""
    until_ns: int | None = None
    """When it ends without more; None while its request is live."""
    reserved: dict[BudgetKey, int] = field(default_factory=dict)
    """The budgets that have a place for it, and when that was last written."""
    incident: str | None = None
    """The incident that its failure belonged to, which the pod may have left since."""


class Flights:
    """All restarts under way."""

    def __init__(self) -> None:
        self._by_pod: dict[str, Flight] = {}
        self._by_workload: defaultdict[WorkloadKey, set[str]] = defaultdict(set)

    def __iter__(self) -> Iterator[Flight]:
        return iter(self._by_pod.values())

    def __len__(self) -> int:
        return len(self._by_pod)

    def begin(self, flight: Flight) -> None:
        """A restart begins."""
        self._by_pod[flight.uid] = flight
        self._by_workload[flight.workload].add(flight.uid)

    def end(self, uid: str) -> Flight | None:
        """A restart is over."""
        flight = self._by_pod.pop(uid, None)
        if flight is not None:
            group = self._by_workload[flight.workload]
            group.discard(uid)
            if not group:
                del self._by_workload[flight.workload]
        return flight

    def get(self, uid: str) -> Flight | None:
        """The restart of a pod."""
        return self._by_pod.get(uid)

    def count(self, workload: WorkloadKey) -> int:
        """The restarts of a workload."""
        return len(self._by_workload.get(workload, ()))

    def counts(self) -> dict[WorkloadKey, int]:
        """The restarts of every workload that has any."""
        return {workload: len(uids) for workload, uids in self._by_workload.items()}

    def deadline(self) -> int | None:
        """When the next restart ends without more."""
        return min((each.until_ns for each in self if each.until_ns is not None), default=None)
