"""The objects that are seen together, and which of them belong to a workload."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from probelet.lint.observed.match import Observations
from probelet.lint.settings import Settings
from probelet.lint.world.neighbour import Autoscaler, DisruptionBudget, Neighbour, NetworkPolicy, Service
from probelet.lint.world.route import Route

if TYPE_CHECKING:
    from probelet.lint.world.workload import LintWorkload
    from probelet.spec.model.selector import LabelSelector

_Label: TypeAlias = tuple[str, str]


@dataclass(eq=False)
class World:
    """The objects of one directory, or of standard input: as if they were one cluster."""

    settings: Settings
    workloads: "list[LintWorkload]" = field(default_factory=list)
    config_maps: set[tuple[str, str]] = field(default_factory=set)
    """Namespace and name of each ConfigMap."""
    kinds: set[str] = field(default_factory=set)
    """Every kind that the texts have, also kinds that no rule reads."""
    observations: Observations = field(init=False)
    """What was seen of their containers."""
    _by_label: defaultdict[_Label | None, list[Neighbour]] = field(default_factory=lambda: defaultdict(list))
    """The objects with a selector by one label that they require, None if they require none. A directory may have
    thousands of Services, and each workload has its few."""
    _by_target: defaultdict[tuple[str, str], list[Autoscaler]] = field(default_factory=lambda: defaultdict(list))
    """Autoscalers by kind and name of their workload."""
    _by_service: defaultdict[str, list[Route]] = field(default_factory=lambda: defaultdict(list))
    """Routes by the name of a Service."""

    def __post_init__(self) -> None:
        self.observations = Observations(self.settings.observed)

    @cached_property
    def names(self) -> list[str]:
        """The names of all workloads, once all of them are here."""
        return [workload.name for workload in self.workloads]

    def add(self, found: Neighbour) -> None:
        """Adds an object beside the workloads."""
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
            case Route():
                for name in found.service_names:
                    self._by_service[name].append(found)

    def services(self, workload: "LintWorkload") -> Iterator[Service]:
        """The Services that select the pods of a workload."""
        labels = workload.pod.metadata.labels.items()
        for found in self._selecting(workload):
            if isinstance(found, Service) and found.spec.selector and found.spec.selector.items() <= labels:
                yield found

    def disruption_budgets(self, workload: "LintWorkload") -> Iterator[DisruptionBudget]:
        """The budgets that select the pods of a workload."""
        for found in self._selecting(workload):
            if isinstance(found, DisruptionBudget) and found.spec.selects(workload.pod.metadata.labels):
                yield found

    def network_policies(self, workload: "LintWorkload") -> Iterator[NetworkPolicy]:
        """The policies that select the pods of a workload."""
        for found in self._selecting(workload):
            if isinstance(found, NetworkPolicy) and found.spec.pod_selector.matches(workload.pod.metadata.labels):
                yield found

    def autoscalers(self, workload: "LintWorkload") -> Iterator[Autoscaler]:
        """The autoscalers of a workload."""
        found = self._by_target.get((workload.kind, workload.name), ())
        return (each for each in found if same_namespace(each, workload))

    def routes(self, workload: "LintWorkload") -> Iterator[Route]:
        """The Ingresses, HTTPRoutes and VirtualServices that send requests to a workload's Services."""
        names = dict.fromkeys(service.metadata.name for service in workload.services)
        found = {id(route): route for name in names for route in self._by_service.get(name, ())}
        return (each for each in found.values() if same_namespace(each, workload))

    def _selecting(self, workload: "LintWorkload") -> Iterator[Neighbour]:
        """The objects of a workload's namespace that may select its pods."""
        labels: Iterable[_Label | None] = (None, *workload.pod.metadata.labels.items())
        for label in labels:
            for found in self._by_label.get(label, ()):
                if same_namespace(found, workload):
                    yield found


def _required(selector: "LabelSelector") -> _Label | None:
    return min(selector.match_labels.items(), default=None)


def same_namespace(neighbour: Neighbour, workload: "LintWorkload") -> bool:
    """True if both are in one namespace. An object without one may get any later, from kustomize or kubectl."""
    found, own = neighbour.metadata.namespace, workload.written_namespace
    return found == own or not found or not own
