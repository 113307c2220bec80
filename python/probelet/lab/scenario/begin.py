"""Begins the traffic and the faults of a scenario on a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from probelet.lab.scenario import fault as written
from probelet.lab.scenario.behave import new_version, spread
from probelet.lab.scenario.model import Traffic
from probelet.lab.scenario.pattern import Templates, containers, matches, workloads
from probelet.lab.scenario.read import ScenarioError, ScenarioFile
from probelet.spec.text.duration import SECOND, format_duration
from probelet.spec.text.problem import FieldError
from probelet.virtual import cluster as virtual
from probelet.virtual.cluster import Cluster

ROLLED_OUT = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


class Offer(NamedTuple):
    """The requests of one Service."""

    service: str
    rate: float
    """Requests a second."""
    timeout: str
    slo: str

    def begin(self, cluster: Cluster, *, share: float = 1.0) -> None:
        """Offer the requests from now on; with a share of 0 the Service exists and nobody calls it."""
        cluster.traffic(self.service, self.rate * share, timeout=self.timeout, slo=self.slo)


def offers(file: ScenarioFile, cluster: Cluster, templates: Templates, rates: Mapping[str, float]) -> list[Offer]:
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


def _services(entry: Traffic, cluster: Cluster, templates: Templates, served: set[str]) -> Iterator[tuple[str, str]]:
    """The Services that an entry gives traffic to, and the workload behind each."""
    for workload, template in templates.items():
        services = cluster.services_of(workload)
        if not services and any(container.probes for container in template.containers):
            services = [workload]
        chosen = [service for service in services if matches(entry.service, service) and service not in served]
        if workload not in served and chosen:
            yield chosen[0], workload


def faults(
    file: ScenarioFile, cluster: Cluster, templates: Templates, budgets: Templates, rates: Mapping[str, float]
) -> list[virtual.Fault]:
    """The faults of the scenario, each for everything that it strikes; times count from now. ``budgets`` is as for
    ``behave``.

    Raises ``ScenarioError`` if a fault names something that is not there.
    """
    found: list[virtual.Fault] = []
    for index, fault in enumerate(file.scenario.faults):
        struck = _Struck(file, index, cluster, templates, budgets, rates, _at(cluster, fault.at))
        found += struck.faults(fault)
    return found


def _at(cluster: Cluster, at: int) -> str:
    return format_duration(round(cluster.now * SECOND) + at)


class _Struck:
    """One fault of a scenario as it is on a cluster."""

    def __init__(
        self,
        file: ScenarioFile,
        index: int,
        cluster: Cluster,
        templates: Templates,
        budgets: Templates,
        rates: Mapping[str, float],
        at: str,
    ) -> None:
        self._file = file
        self._index = index
        self._cluster = cluster
        self._templates = templates
        self._budgets = budgets
        self._rates = rates
        self._at = at

    def faults(self, fault: written.Timed) -> list[virtual.Fault]:
        """One fault of the cluster for each thing that is struck."""
        match fault:
            case written.Lasting():
                lasts = None if fault.lasts is None else format_duration(fault.lasts)
                return list(self._lasting(fault, lasts))
            case _:
                return list(self._momentary(fault))

    def _lasting(self, fault: written.Lasting, lasts: str | None) -> Iterator[virtual.Fault]:
        at = self._at
        match fault:
            case written.DependencySlow(dependency=name):
                yield virtual.DependencySlow(name, spread(fault.latency), at=at, lasts=lasts)
            case written.DependencyDown(dependency=name):
                yield virtual.DependencyDown(name, fault.hangs, at=at, lasts=lasts)
            case written.Partition(dependency=None):
                for node in self._nodes(fault.cut, "cut"):
                    yield virtual.Partition(node, at=at, lasts=lasts)
            case written.Partition():
                for workload in self._workloads(fault.cut, "cut"):
                    yield virtual.Partition(workload, fault.dependency, at=at, lasts=lasts)
            case written.NodeSlow():
                for node in self._nodes(fault.node, "node"):
                    yield virtual.NodeSlow(node, fault.factor, at=at, lasts=lasts)
            case written.ProberStarved():
                for node in self._nodes(fault.node, "node"):
                    yield virtual.ProberStarved(node, format_duration(fault.late or 0), at=at, lasts=lasts)
            case written.TrafficStep():
                for service in self._services(fault.service):
                    rate = self._rates[service] * fault.factor
                    yield virtual.TrafficStep(service, rate, at=at, lasts=lasts)
            case written.Growing():
                for container in self._containers(fault.container):
                    yield _growing(fault, container, at, lasts)

    def _momentary(self, fault: written.Timed) -> Iterator[virtual.Fault]:
        at = self._at
        match fault:
            case written.ProberRestart():
                for node in [fault.node] if fault.node == "*" else self._nodes(fault.node, "node"):
                    yield virtual.ProberRestart(node, format_duration(fault.down), fault.restore, at=at)
            case written.Rollout():
                for workload in self._rolled_out(fault.workload):
                    template = self._templates[workload]
                    version = new_version(self._file.scenario, fault, workload, template, self._budgets)
                    yield virtual.Rollout(workload, version, at=at)
            case written.Deadlock():
                for container in self._containers(fault.container):
                    yield virtual.Deadlock(container, _replicas(fault.replicas), at=at)
            case written.Exit():
                for container in self._containers(fault.container):
                    yield virtual.Exit(container, _replicas(fault.replicas), fault.code, at=at)
            case written.Evict():
                for workload in self._workloads(fault.workload, "workload"):
                    yield virtual.Evict(workload, _replicas(fault.replicas), at=at)

    def _nodes(self, pattern: str, field: str) -> list[str]:
        return self._found([node for node in self._cluster.nodes if matches(pattern, node)], pattern, field, "node")

    def _workloads(self, pattern: str, field: str) -> list[str]:
        return self._found(workloads(pattern, self._templates), pattern, field, "workload")

    def _rolled_out(self, pattern: str) -> list[str]:
        able = [name for name, template in self._templates.items() if template.kind in ROLLED_OUT]
        kinds = ", ".join(sorted(ROLLED_OUT))
        return self._found(workloads(pattern, able), pattern, "workload", f"workload that can be rolled out ({kinds})")

    def _containers(self, pattern: str) -> list[str]:
        return self._found(containers(pattern, self._templates), pattern, "container", "container")

    def _services(self, pattern: str) -> list[str]:
        return self._found([name for name in self._rates if matches(pattern, name)], pattern, "service", "Service")

    def _found(self, names: Sequence[str], pattern: str, field: str, what: str) -> list[str]:
        # A scenario for any manifests may have a fault that these have nothing for.
        if not names and pattern != "*":
            _refuse(self._file, f"faults[{self._index}].{field}", pattern, f"no {what} of the simulation matches")
        return list(names)


def _growing(fault: written.Growing, container: str, at: str, lasts: str | None) -> virtual.Fault:
    match fault:
        case written.GcPause():
            pause, every = format_duration(fault.pause or 0), format_duration(fault.every)
            return virtual.GcPause(container, pause, every, at=at, lasts=lasts)
        case written.Leak():
            return virtual.SlowLeak(container, format_duration(fault.per_hour or 0), at=at, lasts=lasts)
        case written.MemoryLeak():
            return virtual.MemoryLeak(container, fault.per_hour, fault.limit, at=at, lasts=lasts)
        case written.StartupSlow():
            return virtual.StartupSlow(container, format_duration(fault.more or 0), at=at, lasts=lasts)
        case written.StartupDrift():
            return virtual.StartupDrift(container, format_duration(fault.per_day or 0), at=at, lasts=lasts)
    raise AssertionError(fault)


def _replicas(replicas: int | None) -> int | str:
    return "100%" if replicas is None else replicas


def _refuse(file: ScenarioFile, path: str, value: str, detail: str) -> None:
    raise ScenarioError([file.problem(FieldError(path, "Not found", value, detail))])
