"""Begins the traffic and the faults of a scenario on a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from probelet.lab.scenario.behave import new_version, spread
from probelet.lab.scenario.fault import OtherLatency, OtherTraffic, OtherVersion
from probelet.lab.scenario.model import Traffic
from probelet.lab.scenario.pattern import Templates, containers, matches, workloads
from probelet.lab.scenario.read import ScenarioError, ScenarioFile
from probelet.spec.read.decode import file_fields, is_duration
from probelet.spec.text.duration import SECOND, format_duration
from probelet.spec.text.problem import FieldError
from probelet.virtual.cluster import (
    DependencyDown,
    DependencySlow,
    Fault,
    Partition,
    ProberRestart,
    Rollout,
    TrafficStep,
    VirtualCluster,
)
from probelet.virtual.cluster.duration import of_file, shown

ROLLED_OUT = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


class Offer(NamedTuple):
    """The requests of one Service."""

    service: str
    rate: float
    """Requests a second."""
    timeout: str
    slo: str

    def begin(self, cluster: VirtualCluster, *, share: float = 1.0) -> None:
        """Offer the requests from now on; with a share of 0 the Service exists and nobody calls it."""
        cluster.traffic(self.service, self.rate * share, timeout=self.timeout, slo=self.slo)


def offers(
    file: ScenarioFile, cluster: VirtualCluster, templates: Templates, rates: Mapping[str, float]
) -> list[Offer]:
    """The requests of the scenario. A Service in ``rates`` has that rate.

    With a pattern, a workload behind several Services gets its requests through the first alone; a workload without a
    Service gets one of its name, if it has a probe.

    Raises ``ScenarioError`` if an entry names a Service that is not there.
    """
    found: list[Offer] = []
    served: set[str] = set()
    for index, entry in enumerate(file.scenario.traffic):
        chosen = list(_services(entry, cluster, templates, served))
        if not chosen and not found and entry.service != "*":
            _refuse(file, f"traffic[{index}].service", entry.service, "no Service or workload of the manifests")
        for service, workload in chosen:
            served |= {service, workload}
            own = entry.rate if entry.rate is not None else (entry.rate_per_replica or 0.0) * cluster.wanted(workload)
            times = format_duration(entry.timeout), format_duration(entry.slo)
            found.append(Offer(service, rates.get(service, own), *times))
    return found


def _services(
    entry: Traffic, cluster: VirtualCluster, templates: Templates, served: set[str]
) -> Iterator[tuple[str, str]]:
    """The Services that an entry gives traffic to, and the workload behind each."""
    for workload, template in templates.items():
        services = cluster.services_of(workload)
        if not services and any(container.probes for container in template.containers):
            services = [workload]
        chosen = [service for service in services if matches(entry.service, service) and service not in served]
        if workload not in served and chosen:
            yield chosen[0], workload


def faults(
    file: ScenarioFile, cluster: VirtualCluster, templates: Templates, budgets: Templates, rates: Mapping[str, float]
) -> list[Fault]:
    """The faults of the scenario, each for everything that it strikes; times count from now. ``budgets`` is as for
    ``behave``.

    Raises ``ScenarioError`` if a fault names something that is not there.
    """
    found: list[Fault] = []
    begins = round(cluster.now * SECOND)
    for index, fault in enumerate(file.scenario.faults):
        struck = _Struck(file, index, cluster, templates, budgets, rates)
        at = begins + of_file(fault.at)
        found += [_in_texts(replace(each, at=at)) for each in struck.faults(fault)]
    return found


def _in_texts(fault: Fault) -> Fault:
    """The fault with durations as a cluster takes them."""
    values = {each.name: getattr(fault, each.name) for each in file_fields(type(fault)) if is_duration(each.type)}
    return replace(fault, **{name: shown(value) for name, value in values.items() if value is not None})


class _Struck:
    """The targets of one fault of a scenario in a cluster."""

    def __init__(
        self,
        file: ScenarioFile,
        index: int,
        cluster: VirtualCluster,
        templates: Templates,
        budgets: Templates,
        rates: Mapping[str, float],
    ) -> None:
        self._file = file
        self._index = index
        self._cluster = cluster
        self._templates = templates
        self._budgets = budgets
        self._rates = rates

    def faults(self, fault: Fault) -> Iterator[Fault]:
        """One fault of the cluster for each name that matches."""
        match fault:
            case OtherLatency():
                yield DependencySlow(fault.dependency, spread(fault.latency), lasts=fault.lasts)
            case OtherTraffic():
                for service in self._services(fault.service):
                    yield TrafficStep(service, self._rates[service] * fault.factor, lasts=fault.lasts)
            case OtherVersion():
                for workload in self._rolled_out(fault.workload):
                    template = self._templates[workload]
                    version = new_version(self._file.scenario, fault, workload, template, self._budgets)
                    yield Rollout(workload, version)
            case DependencyDown() | ProberRestart(node="*"):
                yield fault
            case _:
                field = fault.__struct_fields__[0]
                for name in self._names(field, fault):
                    yield replace(fault, **{field: name})

    def _names(self, field: str, fault: Fault) -> list[str]:
        """The names that the pattern of a fault, its first field, stands for."""
        match field:
            case "container":
                return self._found(containers(fault.target, self._templates), fault.target, field, "container")
            case "workload":
                return self._workloads(fault.target, field)
            case "cut" if isinstance(fault, Partition) and fault.dependency is not None:
                return self._workloads(fault.target, field)
            case _:
                return self._nodes(fault.target, field)

    def _nodes(self, pattern: str, field: str) -> list[str]:
        return self._found([node for node in self._cluster.nodes if matches(pattern, node)], pattern, field, "node")

    def _workloads(self, pattern: str, field: str) -> list[str]:
        return self._found(workloads(pattern, self._templates), pattern, field, "workload")

    def _rolled_out(self, pattern: str) -> list[str]:
        able = [name for name, template in self._templates.items() if template.kind in ROLLED_OUT]
        kinds = ", ".join(sorted(ROLLED_OUT))
        return self._found(workloads(pattern, able), pattern, "workload", f"workload that can be rolled out ({kinds})")

    def _services(self, pattern: str) -> list[str]:
        return self._found([name for name in self._rates if matches(pattern, name)], pattern, "service", "Service")

    def _found(self, names: Sequence[str], pattern: str, field: str, what: str) -> list[str]:
        # A scenario for any manifests may have a fault that these have nothing for.
        if not names and pattern != "*":
            _refuse(self._file, f"faults[{self._index}].{field}", pattern, f"no {what} of the simulation matches")
        return list(names)


def _refuse(file: ScenarioFile, path: str, value: str, detail: str) -> None:
    raise ScenarioError([file.problem(FieldError(path, "Not found", value, detail))])
