"""The objects that are seen together, and which of them belong to a workload."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from probelet.lint.settings import Settings
from probelet.lint.world.neighbour import Autoscaler, DisruptionBudget, Neighbour, NetworkPolicy, Service
from probelet.lint.world.route import Route

if TYPE_CHECKING:
    from probelet.lint.world.workload import LintWorkload

T = TypeVar("T", bound=Neighbour)


@dataclass(eq=False)
class World:
    """The objects of one directory, or of standard input: as if they were one cluster."""

    settings: Settings
    workloads: "list[LintWorkload]" = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    """Services, PodDisruptionBudgets, autoscalers, routes, NetworkPolicies."""
    config_maps: set[tuple[str, str]] = field(default_factory=set)
    """Namespace and name of each ConfigMap."""
    kinds: set[str] = field(default_factory=set)
    """Every kind that the texts have, also kinds that no rule reads."""

    def services(self, workload: "LintWorkload") -> Iterator[Service]:
        """The Services that select the pods of a workload."""
        labels = workload.pod.metadata.labels.items()
        for found in self._near(workload, Service):
            if found.spec.selector and found.spec.selector.items() <= labels:
                yield found

    def disruption_budgets(self, workload: "LintWorkload") -> Iterator[DisruptionBudget]:
        """The budgets that select the pods of a workload."""
        labels = workload.pod.metadata.labels
        for found in self._near(workload, DisruptionBudget):
            if found.spec.selector is not None and found.spec.selector.matches(labels):
                yield found

    def autoscalers(self, workload: "LintWorkload") -> Iterator[Autoscaler]:
        """The autoscalers of a workload."""
        for found in self._near(workload, Autoscaler):
            target = found.spec.scale_target_ref
            if (target.kind, target.name) == (workload.kind, workload.name):
                yield found

    def network_policies(self, workload: "LintWorkload") -> Iterator[NetworkPolicy]:
        """The policies that select the pods of a workload."""
        labels = workload.pod.metadata.labels
        for found in self._near(workload, NetworkPolicy):
            if found.spec.pod_selector.matches(labels):
                yield found

    def routes(self, workload: "LintWorkload") -> Iterator[Route]:
        """The Ingresses, HTTPRoutes and VirtualServices that send requests to a workload's Services."""
        names = {service.metadata.name for service in workload.services}
        for found in self._near(workload, Route):
            if found.service_names & names:
                yield found

    def _near(self, workload: "LintWorkload", cls: type[T]) -> Iterator[T]:
        """The objects of a type in a workload's namespace."""
        for found in self.neighbours:
            if isinstance(found, cls) and same_namespace(found, workload):
                yield found


def same_namespace(neighbour: Neighbour, workload: "LintWorkload") -> bool:
    """True if both are in one namespace. An object without one may get any later, from kustomize or kubectl."""
    found, own = neighbour.metadata.namespace, workload.written_namespace
    return found == own or not found or not own
