"""The objects beside the workloads, and which of them belong to a workload."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from probelet.lint.model.neighbour import Autoscaler, ConfigMap, DisruptionBudget, Neighbour, NetworkPolicy, Service
from probelet.lint.model.route import Route
from probelet.spec.model.selector import LabelSelector

_Label: TypeAlias = tuple[str, str]


class Neighbours:
    """Finds objects by what they select. A namespace is empty where the text has none."""

    def __init__(self) -> None:
        # By one label that the selector requires, None if it requires none. A directory may have thousands of Services,
        # and each workload has its few.
        self._by_label: defaultdict[_Label | None, list[Neighbour]] = defaultdict(list)
        # By kind and name of the workload.
        self._by_target: defaultdict[tuple[str, str], list[Autoscaler]] = defaultdict(list)
        # By their names.
        self._config_maps: defaultdict[str, list[ConfigMap]] = defaultdict(list)
        # By the name of a Service.
        self._by_service: defaultdict[str, list[Route]] = defaultdict(list)

    def add(self, found: Neighbour) -> None:
        """Adds an object."""
        match found:
            case Service(spec=spec):
                if spec.selector:
                    self._by_label[min(spec.selector.items())].append(found)
            case DisruptionBudget(spec=spec):
                if spec.selector is not None:
                    self._by_label[_required(spec.selector)].append(found)
            case NetworkPolicy(spec=spec):
                self._by_label[_required(spec.pod_selector)].append(found)
            case Autoscaler(spec=spec):
                self._by_target[spec.scale_target_ref.kind, spec.scale_target_ref.name].append(found)
            case ConfigMap():
                self._config_maps[found.metadata.name].append(found)
            case Route():
                for name in found.service_names:
                    self._by_service[name].append(found)

    @property
    def has_services(self) -> bool:
        """True if there is a Service with a selector."""
        return any(isinstance(each, Service) for found in self._by_label.values() for each in found)

    def services(self, namespace: str, labels: Mapping[str, str]) -> Iterator[Service]:
        """The Services that select pods with these labels."""
        for found in self._selecting(namespace, labels):
            if isinstance(found, Service) and found.spec.selector and found.spec.selector.items() <= labels.items():
                yield found

    def disruption_budgets(self, namespace: str, labels: Mapping[str, str]) -> Iterator[DisruptionBudget]:
        """The budgets that select pods with these labels."""
        for found in self._selecting(namespace, labels):
            if isinstance(found, DisruptionBudget) and found.spec.selects(labels):
                yield found

    def network_policies(self, namespace: str, labels: Mapping[str, str]) -> Iterator[NetworkPolicy]:
        """The policies that select pods with these labels."""
        for found in self._selecting(namespace, labels):
            if isinstance(found, NetworkPolicy) and found.spec.pod_selector.matches(labels):
                yield found

    def autoscalers(self, namespace: str, kind: str, name: str) -> Iterator[Autoscaler]:
        """The autoscalers of a workload."""
        found = self._by_target.get((kind, name), ())
        return (each for each in found if _is_in(each, namespace))

    def config_maps(self, namespace: str, names: Iterable[str]) -> Iterator[ConfigMap]:
        """The ConfigMaps with these names."""
        for name in names:
            yield from (found for found in self._config_maps.get(name, ()) if _is_in(found, namespace))

    def routes(self, namespace: str, services: Iterable[Service]) -> Iterator[Route]:
        """The Ingresses, HTTPRoutes and VirtualServices that send requests to one of these Services."""
        names = dict.fromkeys(service.metadata.name for service in services)
        found = {id(route): route for name in names for route in self._by_service.get(name, ())}
        return (each for each in found.values() if _is_in(each, namespace))

    def _selecting(self, namespace: str, labels: Mapping[str, str]) -> Iterator[Neighbour]:
        """The objects of a namespace that may select pods with these labels."""
        for label in (None, *labels.items()):
            for found in self._by_label.get(label, ()):
                if _is_in(found, namespace):
                    yield found


def _required(selector: LabelSelector) -> _Label | None:
    return min(selector.match_labels.items(), default=None)


def _is_in(neighbour: Neighbour, namespace: str) -> bool:
    """True if both are in one namespace. An object without one may get any later, from kustomize or kubectl."""
    found = neighbour.metadata.namespace
    return found == namespace or not found or not namespace
