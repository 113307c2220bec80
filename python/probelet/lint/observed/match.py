"""Finds the observed containers of a workload."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from probelet.lint.observed.container import ObservedContainer


class Observations:
    """The observed containers, by the workloads of manifests."""

    def __init__(self, containers: Iterable[ObservedContainer] = ()) -> None:
        self._by_name: defaultdict[str, list[ObservedContainer]] = defaultdict(list)
        for container in containers:
            self._by_name[container.name].append(container)

    def of(self, namespace: str, workload: str, container: str, others: Sequence[str]) -> list[ObservedContainer]:
        """The containers of a workload's pods, one for each pod.

        A pod has the name of its workload, and behind it what its controller adds: ``web-5d4f``, ``web-0``. ``others``
        are the names of all workloads, so that a pod of ``web-api`` is none of ``web``.
        """
        found = [
            each
            for each in self._by_name.get(container, ())
            if (not namespace or not each.namespace or each.namespace == namespace) and _belongs(each.pod, workload)
        ]
        if not found:
            return []
        longer = [other for other in others if other.startswith(f"{workload}-")]
        return [each for each in found if not any(_belongs(each.pod, other) for other in longer)]


def _belongs(pod: str, workload: str) -> bool:
    return pod == workload or pod.startswith(f"{workload}-")
