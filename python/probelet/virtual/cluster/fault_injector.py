"""Lets faults happen: what each does to the cluster when it begins, and when it is over."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from probelet.errors import ClusterError
from probelet.policy.rules.kind import containers
from probelet.spec.text.duration import SECOND
from probelet.virtual.argument import check_type
from probelet.virtual.cluster.behaviour import Spread
from probelet.virtual.cluster.container import Active, bytes_of, is_target, spread_document
from probelet.virtual.cluster.controllers.budget import status_of_budget
from probelet.virtual.cluster.controllers.workload import Version, Workload
from probelet.virtual.cluster.duration import nanoseconds, share
from probelet.virtual.cluster.fault import (
    Deadlock,
    DependencyDown,
    DependencySlow,
    Evict,
    Exit,
    Fault,
    GcPause,
    Lasting,
    MemoryLeak,
    NodeSlow,
    Partition,
    ProberRestart,
    ProberStarved,
    Rollout,
    SlowLeak,
    StartupDrift,
    StartupSlow,
    TrafficStep,
)
from probelet.virtual.cluster.node.pod import ClusterPod, regular
from probelet.virtual.cluster.state import ClusterState

EVICTION_RETRY_NS: Final = 5 * SECOND
"""When an eviction that a budget refused is tried again (kubectl drain, 1.36)."""


class Dependency(msgspec.Struct):
    """A dependency without faults."""

    latency: Spread
    asks: tuple[str, ...]
    service: bool = False
    """Whether it is a Service of the cluster."""


class FaultInjector:
    """The faults and dependencies of a cluster."""

    def __init__(self, state: ClusterState) -> None:
        self.dependencies: dict[str, Dependency] = {}
        """By name."""
        self._state = state
        self._described: dict[str, bytes] = {}

    # Dependencies.

    def provide(self, name: str, dependency: Dependency) -> None:
        """Provide a dependency; what it asks is known and asks in no circle."""
        self.dependencies[name] = dependency
        self.describe(name)

    def describe(self, name: str) -> None:
        """Tell the model how a dependency is now."""
        dependency, state = self.dependencies[name], self._state
        latency, health = dependency.latency, "up"
        if dependency.service and not state.endpoints.services[name].endpoints:
            health = "refuses"
        for active in state.containers.active:
            match active.fault:
                case DependencySlow() as fault if fault.dependency == name:
                    latency = fault.latency
                case DependencyDown() as fault if fault.dependency == name:
                    health = "hangs" if fault.hangs else "refuses"
        found: dict[str, Any] = {"latency": spread_document(latency), "asks": list(dependency.asks), "health": health}
        encoded = msgspec.json.encode(found)
        if self._described.get(name) != encoded:
            self._described[name] = encoded
            state.model.dependency(state.now, name, encoded)

    # Faults.

    def plan(self, fault: Fault) -> None:
        """Let a fault happen at its time."""
        check_type("fault", fault, Fault)
        self._check(fault)
        state = self._state
        start = max(state.now, nanoseconds("at", fault.at))
        if isinstance(fault, Lasting):
            end = None if fault.lasts is None else start + nanoseconds("lasts", fault.lasts)
            state.agenda.at(start, lambda: self._begin(fault, end))
        else:
            end = start + (nanoseconds("down", fault.down) if isinstance(fault, ProberRestart) else 0)
            state.agenda.at(start, lambda: self._strike(fault))
        state.writer.fault(fault, start, end)

    def _strike(self, fault: Fault) -> None:
        self._state.writer.line(self._state.now / SECOND, "fault", fault.label)
        match fault:
            case Deadlock():
                self._deadlock(fault)
            case Exit():
                self._exit(fault)
            case Evict():
                pods = self._live(self._state.workloads[fault.workload])
                self._evict(pods[: share("replicas", fault.replicas, len(pods))])
            case ProberRestart():
                self._restart_prober(fault)
            case Rollout():
                self._roll_out(fault)

    def _begin(self, fault: Fault, end_ns: int | None) -> None:
        state = self._state
        active = Active(fault, state.now)
        state.writer.fault_edge(state.now, fault, "begins")
        state.containers.active.append(active)
        self._changed(fault)
        if isinstance(fault, MemoryLeak):
            state.containers.leak(active)
        if end_ns is not None:
            state.agenda.at(end_ns, lambda: self._end(active))

    def _end(self, active: Active) -> None:
        state = self._state
        state.writer.fault_edge(state.now, active.fault, "is over")
        state.containers.active = [each for each in state.containers.active if each is not active]
        self._changed(active.fault)

    def _changed(self, fault: Fault) -> None:
        """A fault has begun or is over: what it touches is described anew."""
        state = self._state
        match fault:
            case DependencySlow() | DependencyDown():
                self.describe(fault.dependency)
            case TrafficStep():
                service = state.endpoints.services[fault.service]
                steps = [each.fault for each in state.containers.active]
                rates = [step.rate for step in steps if isinstance(step, TrafficStep) and step.service == fault.service]
                service.step = rates[-1] if rates else None
                state.endpoints.offer(service)
            case Partition():
                state.containers.refresh()
                # What a node could not report, it reports now.
                for pod in list(state.node_by_name[fault.cut].pods.values()) if fault.cut in state.node_by_name else ():
                    state.sync(pod)
            case _:
                state.containers.refresh()

    # What happens at a moment.

    def _targets(self, target: str) -> list[tuple[ClusterPod, list[str]]]:
        """The live pods of a target in order of their names, with the containers that it means."""
        found = []
        workloads = self._state.workloads
        for pod in self._live(workloads[target if target in workloads else target.rpartition("/")[0]]):
            main = regular(pod.pod)
            names = [each.name for _, each in containers(pod.pod)]
            hit = [name for name in names if is_target(target, pod.workload, name, is_regular=name in main)]
            found.append((pod, hit))
        return found

    def _live(self, workload: Workload) -> list[ClusterPod]:
        return sorted(workload.active(), key=lambda pod: (len(pod.name), pod.name))

    def _deadlock(self, fault: Deadlock) -> None:
        state, targets = self._state, self._targets(fault.container)
        for pod, names in targets[: share("replicas", fault.replicas, len(targets))]:
            for name in names:
                state.model.deadlock(state.now, pod.numbers[name])

    def _exit(self, fault: Exit) -> None:
        targets = self._targets(fault.container)
        for pod, names in targets[: share("replicas", fault.replicas, len(targets))]:
            for name in names:
                pod.exit(pod.running_id(name), fault.code)

    def _restart_prober(self, fault: ProberRestart) -> None:
        state = self._state
        for node in state.node_by_name.values():
            if fault.node in (node.name, "*") and not node.is_down:
                node.stop_prober()
                start = self._starter(node.name, restore=fault.restore)
                state.agenda.at(state.now + nanoseconds("down", fault.down), start)

    def _starter(self, name: str, *, restore: bool) -> Callable[[], None]:
        state = self._state

        def start() -> None:
            state.node_by_name[name].start_prober(state.now, restore=restore)

        return start

    def _roll_out(self, fault: Rollout) -> None:
        workload = self._state.workloads[fault.workload]
        current = workload.current
        behaviours = dict(current.behaviours)
        if fault.behaviour is not None:
            behaviours.update(dict.fromkeys(regular(current.template), fault.behaviour))
        workload.versions.append(Version(current.number + 1, current.template, behaviours))
        workload.progress = ()
        self._state.reconcile(workload)

    def _evict(self, pods: Iterable[ClusterPod]) -> None:
        state, refused = self._state, []
        for pod in pods:
            if pod.is_terminating:
                continue
            if self._may_evict(pod):
                state.delete(pod)
            else:
                refused.append(pod)
        if refused:
            state.agenda.at(state.now + EVICTION_RETRY_NS, lambda: self._evict(refused))

    def _may_evict(self, pod: ClusterPod) -> bool:
        """Whether every budget that selects a pod leaves room (pkg/controller/disruption, 1.36). A pod that is not
        ready may always go, as with ``unhealthyPodEvictionPolicy: AlwaysAllow``, which is what drains need."""
        state, meta = self._state, pod.pod.metadata
        if not pod.is_ready:
            return True
        for (namespace, _), budget in state.budgets.items():
            if namespace == meta.namespace and budget.spec.selects(meta.labels):
                status = status_of_budget(budget, namespace, state.pods.values(), state.workloads)
                if not status.allowed:
                    return False
        return True

    # Names.

    def _check(self, fault: Fault) -> None:
        """Raises ``ClusterError`` if a fault has an impossible value, or names something that is not there."""
        fault.check()
        state = self._state
        match fault:
            case DependencySlow() | DependencyDown():
                self.check_dependency(fault.dependency)
            case Partition():
                known("cut", fault.cut, [*state.workloads, *state.nodes], "workload or node")
                if fault.dependency is not None:
                    self.check_dependency(fault.dependency)
                elif fault.cut not in state.nodes:
                    raise ClusterError(f"cut: {fault.cut!r}: without a dependency it must be a node")
            case NodeSlow() | ProberStarved() | ProberRestart():
                known("node", fault.node, ["*", *state.nodes], "node")
            case TrafficStep():
                with_traffic = [name for name, each in state.endpoints.services.items() if each.traffic is not None]
                known("service", fault.service, with_traffic, "Service with traffic")
            case Rollout() | Evict():
                known("workload", fault.workload, state.workloads, "workload")
            case Deadlock() | Exit() | GcPause() | SlowLeak() | StartupSlow() | StartupDrift():
                self.check_target("container", fault.container)
            case MemoryLeak():
                self.check_target("container", fault.container)
                bytes_of("per_hour", fault.per_hour)
                bytes_of("limit", fault.limit)

    def check_dependency(self, name: str) -> None:
        """Raises ``ClusterError`` unless there is such a dependency."""
        known("dependency", name, self.dependencies, "dependency")

    def check_target(self, field: str, target: str) -> None:
        """Raises ``ClusterError`` unless there is such a workload or container."""
        workloads = self._state.workloads
        names = [
            f"{workload.name}/{each.name}"
            for workload in workloads.values()
            for _, each in containers(workload.current.template)
        ]
        known(field, target, [*workloads, *names], "workload or container")


def known(field: str, name: str, names: Iterable[str], what: str) -> None:
    """Raises ``ClusterError`` unless ``name`` is one of ``names``."""
    listed = list(dict.fromkeys(names))
    if name not in listed:
        shown = ", ".join(listed[:KNOWN_MAX]) + (f", {len(listed) - KNOWN_MAX} more" if len(listed) > KNOWN_MAX else "")
        raise ClusterError(f"{field}: {name!r}: no such {what}; there are {shown or 'none'}")


KNOWN_MAX: Final = 20
"""The names that a message about an unknown one lists."""
