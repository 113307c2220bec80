"""The restart decision of a virtual cluster: changes in, and what it decides goes to the requests of ``requests``."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from probelet.beside.guard.objects.budget import Budget
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import NodeProbes
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.restart.guard import Guard
from probelet.beside.guard.restart.protocol import inputs, outputs
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions
from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.text.duration import SECOND
from probelet.virtual.agenda import Entry
from probelet.virtual.cluster.controllers.budget import status_of_budget
from probelet.virtual.cluster.guarded.objects import guarded_budget, guarded_pod, guarded_workload
from probelet.virtual.cluster.guarded.pods import RestartedPods
from probelet.virtual.cluster.guarded.publishing import NodeStatus
from probelet.virtual.cluster.guarded.requests import Object, Requests
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.record import Event
from probelet.virtual.cluster.state import ClusterState

WATCH_NS: Final = SECOND
"""How long a change of an object takes to reach the controllers, and a new request the executor of its node."""


class GuardedRestarts:
    """Enhanced liveness for every pod of a world. ``budgets``: by namespace and name."""

    def __init__(
        self, world: ClusterState, budgets: Mapping[tuple[str, str], DisruptionBudget], config: Config, seed: int
    ) -> None:
        self.decisions: Counter[str] = Counter()
        """How often each reason decided."""
        self.pods = RestartedPods(world, self._annotations)
        self.requests = Requests(world.agenda, self.pods, self._request_changed, watch_ns=WATCH_NS)
        self._world = world
        self._budgets = budgets
        self._guard = Guard(GuardOptions(seed=seed))
        self._shown_workloads: dict[str, GuardedWorkload] = {}
        self._shown_budgets: dict[tuple[str, str], Budget] = {}
        self._pods: dict[str, ClusterPod] = {}
        """The pods that have changed since the last sync."""
        self._is_sync_due = False
        self._alarm: Entry | None = None
        self._nodes = {name: self._node(name, seed) for name in world.nodes}
        self._begin(config)

    def _node(self, name: str, seed: int) -> NodeStatus:
        def is_up() -> bool:
            return self.pods.is_up(name)

        def write(probes: NodeProbes) -> None:
            self._handle(inputs.ProbesChanged(name, probes))

        def counts() -> bytes:
            return self._world.node_by_name[name].simulation.metrics()

        return NodeStatus(name, self._world.agenda, f"{seed}/{name}", is_up, write, counts)

    def _begin(self, config: Config) -> None:
        # The wall clock of a virtual cluster is its own clock.
        self._handle(inputs.WallClock(0))
        self._handle(inputs.Configured(config))
        for name in self._world.nodes:
            self._handle(inputs.NodeChanged(name, GuardedNode(name)))
        for pod in self._world.pods.values():
            if not pod.is_gone:
                self.changed(pod)
        self._sync()
        self._handle(inputs.Synced(True))

    # What happens in the world.

    def changed(self, pod: ClusterPod) -> None:
        """A pod's state has changed."""
        self._pods[pod.uid] = pod
        if not self._is_sync_due:
            self._is_sync_due = True
            self._world.agenda.at(self._world.now + WATCH_NS, self._sync)

    def result(self, pod: ClusterPod, container: str, container_id: str, failure: str | None) -> None:
        """A liveness probe has a result; ``failure`` is its message, None for success."""
        self._nodes[pod.node].result(pod, container, container_id, failure)

    def attempt_failed(self, pod: ClusterPod, container: str, message: str, at_ns: int) -> None:
        """An attempt of a liveness probe failed at that moment, which by itself is no result yet."""
        self._nodes[pod.node].attempt_failed(pod, container, message, at_ns)

    # What the guard is shown.

    def _sync(self) -> None:
        """Show the guard what has changed, as the API server's watches would."""
        self._is_sync_due = False
        self._show_workloads()
        pods, self._pods = self._pods, {}
        for uid, pod in pods.items():
            workload = self._world.workloads[pod.workload]
            self._handle(inputs.PodChanged(uid, None if pod.is_gone else guarded_pod(pod, workload)))
            self.requests.pod_changed(uid)
        self._show_budgets()
        for node in sorted({pod.node for pod in pods.values() if self._nodes[pod.node].sync(pod)}):
            self._nodes[node].write_spec()

    def _show_workloads(self) -> None:
        for workload in self._world.workloads.values():
            shown = guarded_workload(workload)
            if self._shown_workloads.get(shown.uid) != shown:
                self._shown_workloads[shown.uid] = shown
                self._handle(inputs.WorkloadChanged(shown.uid, shown))

    def _show_budgets(self) -> None:
        world = self._world
        for (namespace, name), budget in self._budgets.items():
            status = status_of_budget(budget, namespace, world.pods.values(), world.workloads)
            shown = guarded_budget(namespace, name, budget, status)
            if self._shown_budgets.get((namespace, name)) != shown:
                self._shown_budgets[namespace, name] = shown
                self._handle(inputs.BudgetChanged(shown.key, shown))

    def _request_changed(self, key: inputs.RequestKey, obj: Object | None) -> None:
        self._handle(inputs.RequestChanged(key, None if obj is None else read_request(obj)))

    # What the guard wants.

    def _handle(self, change: inputs.Input | None) -> None:
        for output in self._guard.handle(self._world.now, change):
            self._carry_out(output)
        deadline = self._guard.deadline(self._world.now)
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if deadline is not None:
            self._alarm = self._world.agenda.at(deadline, lambda: self._handle(None))

    def _carry_out(self, output: outputs.Output) -> None:
        world = self._world
        match output:
            case outputs.Decision():
                self.decisions[output.reason] += 1
            case outputs.Create():
                world.agenda.at(world.now, lambda: self._create(output))
            case outputs.Delete():
                world.agenda.at(world.now, lambda: self._delete(output))
            case outputs.Event() if output.regarding.kind == "Pod":
                found = Event(world.now / SECOND, output.regarding.name, output.reason, output.message, output.type)
                world.writer.event(found)
            case _:
                # No PodUnavailableBudget, annotation or metric page is here.
                pass

    def _create(self, create: outputs.Create) -> None:
        self._handle(inputs.Wrote(create.number, "done"))
        self.requests.create(create.body)

    def _delete(self, delete: outputs.Delete) -> None:
        self.requests.delete(delete.key)
        self._handle(inputs.Wrote(delete.number, "done"))

    def _annotations(self, key: inputs.RequestKey) -> Mapping[str, str]:
        found: Mapping[str, str] = self.requests.objects[key]["metadata"].get("annotations", {})
        return found
