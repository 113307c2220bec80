"""Finds the observed containers of a workload."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from probelet.lint.observed.container import Observation, ObservedClients, ObservedContainer


class Observations:
    """The observed containers, by the workloads of manifests."""

    def __init__(self, observed: Iterable[Observation] = ()) -> None:
        self._by_name: defaultdict[str, list[ObservedContainer]] = defaultdict(list)
        self._clients: list[ObservedClients] = []
        for each in observed:
            if isinstance(each, ObservedClients):
                self._clients.append(each)
            else:
                self._by_name[each.name].append(each)

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

    def clients(self, namespace: str, workload: str, services: Sequence[str]) -> list[ObservedClients]:
        """The clients of a workload, or of one of its Services."""
        return [
            each
            for each in self._clients
            if (not namespace or not each.namespace or each.namespace == namespace)
            and (each.workload == workload if each.workload else each.service in services)
        ]


def _belongs(pod: str, workload: str) -> bool:
    return pod == workload or pod.startswith(f"{workload}-")
