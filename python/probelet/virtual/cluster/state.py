"""A cluster from the inside: nodes, workloads and Services on one clock, around one model of containers."""

import re
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from msgspec.structs import replace

from probelet._rust import ClusterModel
from probelet.policy.incidents import Subject
from probelet.policy.node.kill_gate import HoldOptions
from probelet.policy.protocol.actions import Record
from probelet.policy.rules.kind import containers
from probelet.spec.annotation.hold_kills import hold_choice
from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.text.duration import MILLISECOND, MINUTE, SECOND
from probelet.virtual.agenda import Agenda
from probelet.virtual.cluster.container import ClusterContainers
from probelet.virtual.cluster.controllers.deployment import reconcile as reconcile_deployment
from probelet.virtual.cluster.controllers.endpoints import Endpoints, Service
from probelet.virtual.cluster.controllers.others import (
    reconcile_daemons,
    reconcile_replicas,
    reconcile_stateful,
    reconcile_unkept,
)
from probelet.virtual.cluster.controllers.workload import UNKEPT, Version, Workload
from probelet.virtual.cluster.fault import Partition
from probelet.virtual.cluster.history_writer import HistoryWriter
from probelet.virtual.cluster.node.node import Node, Watch
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.node.workload import BehavingWorkload
from probelet.virtual.cluster.record import Event, Exited, Kill
from probelet.virtual.cluster.subjects import pod_subjects
from probelet.virtual.prober import Line

SLICE_NS: Final = 10 * MINUTE
"""The longest time that is played without a look at signals, such as Ctrl-C: a tenth of a second of a full node."""


class LivenessGuard(Protocol):
    """Enhanced liveness, as the cluster sees it."""

    def changed(self, pod: ClusterPod) -> None:
        """A pod's state has changed."""

    def result(self, pod: ClusterPod, container: str, container_id: str, failure: str | None) -> None:
        """A liveness probe has a result; ``failure`` is its message, None for success."""

    def attempt_failed(self, pod: ClusterPod, container: str, message: str, at_ns: int) -> None:
        """An attempt of a liveness probe failed at that moment, which by itself is no result yet."""


class ClusterState:
    """The parts of a cluster and what they do to each other. It is the ``Actions`` of its controllers."""

    def __init__(
        self, *, nodes: int, seed: int, kubelet_version: str, endpoint_delay_ns: int, attempts: int, hold: HoldOptions
    ) -> None:
        self.agenda = Agenda()
        self.model = ClusterModel(seed=seed, attempts=attempts)
        self.writer = HistoryWriter()
        self.containers = ClusterContainers(self.agenda, self.model, self._ended)
        self.endpoints = Endpoints(self.agenda, self.model, endpoint_delay_ns, self._endpoints_changed)
        self.workloads: dict[str, Workload] = {}
        """By name, in the order in which they were applied."""
        self.budgets: dict[tuple[str, str], DisruptionBudget] = {}
        """By namespace and name."""
        self.pods: dict[str, ClusterPod] = {}
        """By UID, in the order in which they were created, gone ones among them."""
        self.on_endpoints: Callable[[Service], None] = lambda service: None
        """Called when the endpoints of a Service have changed."""
        workload = BehavingWorkload(self.containers, self._started)
        self.guard: LivenessGuard | None = None
        """Decides about failed liveness probes; None: each kubelet does."""
        watch = Watch(
            self.record, self._line, self._forgotten, lambda: self.guard is not None, self._goes_on, self._subjects
        )
        self.node_by_name = {
            name: Node(
                name, self.agenda, workload, watch, seed=seed + number, kubelet_version=kubelet_version, hold=hold
            )
            for number, name in enumerate(f"node-{number}" for number in range(nodes))
        }
        self._dirty: set[str] = set()
        # The message of the latest failure of each probe, by pod, container and the title of its type.
        self._failures: dict[tuple[str, str, str], str] = {}

    # Time.

    @property
    def now(self) -> int:
        """Nanoseconds since t = 0."""
        return self.agenda.now

    def play(self, until_ns: int) -> None:
        """Play on until ``until_ns``, including everything due at that moment.

        At each moment the probers come first, then the agenda, then the probers again, as in ``virtual.agenda.play``.
        """
        agenda = self.agenda
        while True:
            entry = agenda.next_ns()
            limit = min(until_ns, agenda.now + SLICE_NS, until_ns if entry is None else max(entry, agenda.now))
            nodes = [node for node in self.node_by_name.values() if not node.is_down]
            simulations = [node.simulation for node in nodes]
            reached, has_sync = self.model.run(simulations, limit)
            agenda.now = max(agenda.now, reached)
            for node in nodes:
                node.act()
            if has_sync:
                continue
            if entry is not None and entry <= agenda.now:
                agenda.run_due()
            elif agenda.now >= until_ns:
                return

    # Pods.

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes."""
        return list(self.node_by_name)

    def create(self, workload: Workload, version: Version, name: str, node: str | None) -> None:
        """Make a pod of a version of a workload, on that node or on the one with the fewest pods."""
        chosen = self.node_by_name[node] if node is not None else min(self.node_by_name.values(), key=_fullness)
        meta = version.template.metadata
        uid = f"{meta.namespace}.{name}.{len(self.pods)}"
        made = replace(version.template, metadata=replace(meta, name=name, uid=uid))
        pod = ClusterPod(made, workload.name, chosen.name, version.number, self._changed)
        self.pods[uid] = workload.pods[uid] = pod
        self.containers.add(pod, version.behaviours)
        if hold_choice(made)[0] not in (None, "off"):
            chosen.begin_holding()
        chosen.add(pod)

    def know(self, pod: ClusterPod) -> None:
        """Takes what a pod's probes ask, which may be something else than before."""
        if (holding := self.node_by_name[pod.node].holding) is not None and not pod.is_terminating:
            holding.know(self._subjects(pod), pod.version)

    def delete(self, pod: ClusterPod) -> None:
        """Delete a pod; its workload replaces it if it is one that does."""
        if not pod.is_terminating:
            if (holding := self.node_by_name[pod.node].holding) is not None:
                holding.forget(pod.uid)
            pod.terminate()

    def event(self, workload: Workload, reason: str, message: str) -> None:
        """An event of a workload."""
        self.writer.event(Event(self.now / SECOND, "", reason, message, workload=workload.name))

    def reconcile(self, workload: Workload) -> None:
        """Let a workload's controller look at its pods, after everything that is due already."""
        if workload.name not in self._dirty:
            self._dirty.add(workload.name)
            self.agenda.at(self.now, lambda: self._reconcile(workload))

    def _reconcile(self, workload: Workload) -> None:
        self._dirty.discard(workload.name)
        look: int | None = None
        match workload.kind:
            case "Deployment":
                look = reconcile_deployment(workload, self)
            case "StatefulSet":
                look = reconcile_stateful(workload, self)
            case "DaemonSet":
                look = reconcile_daemons(workload, self)
            case kind if kind in UNKEPT:
                reconcile_unkept(workload, self)
            case _:
                reconcile_replicas(workload, self)
        if look is not None:
            self.agenda.at(look, lambda: self.reconcile(workload))

    # What happens.

    def is_cut_off(self, node: str) -> bool:
        """Whether a node is alone in a partition."""
        faults = (active.fault for active in self.containers.active)
        return any(isinstance(fault, Partition) and fault.dependency is None and fault.cut == node for fault in faults)

    def sync(self, pod: ClusterPod) -> None:
        """Read a pod's state; what depends on it follows."""
        node = self.node_by_name[pod.node]
        is_known = node.is_down or self.is_cut_off(pod.node)
        was_ready = pod.is_ready
        if self.guard is not None:
            self.guard.changed(pod)
        is_ready = pod.is_ready if is_known else not pod.is_gone and node.is_ready(pod.uid)
        if pod.update_state(self.now, is_ready=is_ready):
            self.writer.line(self.now / SECOND, pod.name, pod.state.replace("_", "-"))
            self.endpoints.update(pod)
            self.reconcile(self.workloads[pod.workload])
        elif was_ready != is_ready:
            self.endpoints.update(pod)
            self.reconcile(self.workloads[pod.workload])

    def _changed(self, pod: ClusterPod) -> None:
        self.sync(pod)

    def _started(self, uid: str) -> None:
        self.pods[uid].started()

    def _ended(self, pod: ClusterPod, name: str) -> None:
        newest = pod.runtime.snapshot.newest(name)
        if newest is not None:
            exited = Exited(self.now / SECOND, pod.name, name, newest.exit_code, newest.reason)
            pod.exits.append(exited)
            self.writer.exit(exited)
            if (holding := self.node_by_name[pod.node].holding) is not None:
                holding.ended(pod.uid, name)

    def _forgotten(self, uid: str) -> None:
        pod = self.pods[uid]
        pod.is_gone = True
        if (holding := self.node_by_name[pod.node].holding) is not None:
            holding.forget(uid)
        self.sync(pod)
        self.node_by_name[pod.node].pods.pop(uid, None)
        self.containers.remove(pod)
        workload = self.workloads[pod.workload]
        workload.pods.pop(uid, None)
        workload.restarts_before += pod.restarts

    def _endpoints_changed(self, service: Service, count: int) -> None:
        self.writer.line(self.now / SECOND, service.name, f"has {count} endpoint{'' if count == 1 else 's'}")
        self.on_endpoints(service)

    def record(self, uid: str, record: Record) -> None:
        """An event of a pod, as its machine or the agent beside it writes it."""
        self._event(self.now / SECOND, uid, record.reason, record.message, record.type, record.field_path)

    def _line(self, section: str, line: Line) -> None:
        at, uid = line["t_ms"] / 1_000, line["pod_uid"]
        if section == "events":
            container = self._event(at, uid, line["reason"], line["message"], line["type"], line["field_path"])
            probe_type = line["message"].partition(" ")[0].lower()
            self._failures[uid, container, probe_type] = line["message"]
            if self.guard is not None and probe_type == "liveness":
                self.guard.attempt_failed(self.pods[uid], container, line["message"], line["t_ms"] * MILLISECOND)
        elif section == "updates":
            if self.guard is not None and line["type"] == "liveness":
                self._guarded(self.guard, uid, line)
            elif line["result"] == "Failure" and line["type"] != "readiness":
                self._failed(at, uid, line["type"], line["container_id"])
            self.sync(self.pods[uid])

    def _guarded(self, guard: LivenessGuard, uid: str, line: Line) -> None:
        pod = self.pods[uid]
        running = pod.runtime.running(line["container_id"])
        if running is not None and line["result"] != "Unknown":
            failure = self._failures.get((uid, running.name, "liveness"), "")
            failed = line["result"] == "Failure"
            guard.result(pod, running.name, running.id, failure if failed else None)

    def _failed(self, at: float, uid: str, probe_type: str, container_id: str) -> None:
        """A verdict of a probe kills; that of a liveness probe only if the pod's gate does not hold the kill."""
        pod = self.pods[uid]
        running = pod.runtime.running(container_id)
        if running is None or (probe_type == "liveness" and pod.has_kill_gate):
            return
        self._killed(at, pod, running.name, probe_type)
        if (holding := self.node_by_name[pod.node].holding) is not None:
            holding.killed(uid, running.name)

    def _goes_on(self, uid: str, container: str) -> None:
        self._killed(self.now / SECOND, self.pods[uid], container, "liveness")

    def _killed(self, at: float, pod: ClusterPod, container: str, probe_type: str) -> None:
        reason = self._failures.get((pod.uid, container, probe_type), "")
        kill = Kill(at, pod.name, container, probe_type, reason)  # type: ignore[arg-type]
        pod.kills.append(kill)
        self.writer.kill(kill)

    def _subjects(self, pod: ClusterPod) -> Iterable[Subject]:
        return pod_subjects(self.workloads[pod.workload], pod)

    def _event(self, at: float, uid: str, reason: str, message: str, kind: str, path: str) -> str:
        """Record an event of a pod; returns the container that it is about."""
        named = re.search(r"\{(.+)\}", path)
        container = named[1] if named is not None else ""
        event = Event(at, self.pods[uid].name, reason, message, kind, container)  # type: ignore[arg-type]
        self.writer.event(event)
        return container


def _fullness(node: Node) -> int:
    return len(node.pods)


def container_names(workload: Workload) -> dict[str, tuple[str, ...]]:
    """The containers of a workload's newest pods, with the types of their probes."""
    return {
        f"{workload.name}/{each.name}": tuple(each.probes)
        for kind, each in containers(workload.current.template)
        if kind != "init"
    }
