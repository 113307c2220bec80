"""The restart decision of a virtual cluster: changes in, requests out, and the nodes that carry them out."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from probelet.beside.guard.objects.budget import Budget
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import NodeProbes
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.restart.guard import Guard
from probelet.beside.guard.restart.protocol import inputs, outputs
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.state.world import GuardOptions
from probelet.policy.rules.grace import MINIMUM_GRACE_SECONDS
from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.text.duration import SECOND
from probelet.virtual.agenda import Entry
from probelet.virtual.cluster.controllers.budget import status_of_budget
from probelet.virtual.cluster.guarded.objects import Result, guarded_budget, guarded_pod, guarded_workload, pod_probes
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.record import Event, Kill
from probelet.virtual.cluster.world import World
from probelet.virtual.runtime import KILLED

PUBLISH_NS: Final = SECOND
"""How long a node gathers results before it publishes them."""
HEARTBEAT_NS: Final = 60 * SECOND
"""How often a node publishes a failure again."""
PICK_NS: Final = SECOND
"""How long a node takes to begin with a request."""


class GuardedRestarts:
    """Enhanced liveness for every pod of a world. ``budgets``: by namespace and name."""

    def __init__(
        self, world: World, budgets: Mapping[tuple[str, str], DisruptionBudget], config: Config, seed: int
    ) -> None:
        self.decisions: Counter[str] = Counter()
        """How often each reason decided."""
        self._world = world
        self._budgets = budgets
        self._guard = Guard(GuardOptions(seed=seed))
        self._results: dict[tuple[str, str], Result] = {}
        self._requests: dict[tuple[str, str], dict[str, Any]] = {}
        self._shown_workloads: dict[str, GuardedWorkload] = {}
        self._shown_budgets: dict[tuple[str, str], Budget] = {}
        self._pods: dict[str, ClusterPod] = {}
        """The pods that have changed since the last look."""
        self._nodes: set[str] = set()
        """The nodes with something to publish."""
        self._looks = False
        self._alarm: Entry | None = None
        self._begin(config)

    def _begin(self, config: Config) -> None:
        # The wall clock of a virtual cluster is its own clock.
        self._give(inputs.WallClock(0))
        self._give(inputs.Configured(config))
        for name in self._world.nodes:
            self._give(inputs.NodeChanged(name, GuardedNode(name)))
        for pod in self._world.pods.values():
            if not pod.is_gone:
                self.changed(pod)
        self._look()
        self._give(inputs.Synced(True))
        self._world.agenda.at(self._world.now + HEARTBEAT_NS, self._beat)

    # What happens in the world.

    def changed(self, pod: ClusterPod) -> None:
        """A pod's state has changed."""
        self._pods[pod.uid] = pod
        self._nodes.add(pod.node)
        self._later()

    def result(self, pod: ClusterPod, container: str, container_id: str, failure: str | None) -> None:
        """A liveness probe has a result; ``failure`` is its message, None for success."""
        key, now = (pod.uid, container), self._world.now // SECOND * SECOND
        self._results[key] = Result(container_id, "Succeeded" if failure is None else "Failed", now, failure or "")
        self._nodes.add(pod.node)
        self._later()

    def _later(self) -> None:
        if not self._looks:
            self._looks = True
            self._world.agenda.at(self._world.now + PUBLISH_NS, self._look)

    def _beat(self) -> None:
        self._nodes |= {
            self._world.pods[uid].node for (uid, _), found in self._results.items() if found.state == "Failed"
        }
        if self._nodes:
            self._later()
        self._world.agenda.at(self._world.now + HEARTBEAT_NS, self._beat)

    # What the guard is shown.

    def _look(self) -> None:
        """Show the guard what has changed, as the API server's watches would."""
        self._looks = False
        self._show_workloads()
        pods, self._pods = self._pods, {}
        for uid, pod in pods.items():
            self._forget_old_results(pod)
            workload = self._world.workloads[pod.workload]
            shown = None if pod.is_gone else guarded_pod(pod, workload)
            self._give(inputs.PodChanged(uid, shown))
            self._complete(pod)
        self._show_budgets()
        nodes, self._nodes = self._nodes, set()
        for node in sorted(nodes):
            self._publish(node)

    def _forget_old_results(self, pod: ClusterPod) -> None:
        """A new instance of a container has no result yet."""
        for container in pod.pod.spec.containers:
            found = self._results.get((pod.uid, container.name))
            newest = None if pod.is_gone else pod.runtime.snapshot.newest(container.name)
            if found is not None and (newest is None or newest.id != found.container_id):
                del self._results[pod.uid, container.name]

    def _show_workloads(self) -> None:
        for workload in self._world.workloads.values():
            shown = guarded_workload(workload)
            if self._shown_workloads.get(shown.uid) != shown:
                self._shown_workloads[shown.uid] = shown
                self._give(inputs.WorkloadChanged(shown.uid, shown))

    def _show_budgets(self) -> None:
        world = self._world
        for (namespace, name), budget in self._budgets.items():
            status = status_of_budget(budget, namespace, world.pods.values(), world.workloads)
            shown = guarded_budget(namespace, name, budget, status)
            if self._shown_budgets.get((namespace, name)) != shown:
                self._shown_budgets[namespace, name] = shown
                self._give(inputs.BudgetChanged(shown.key, shown))

    def _publish(self, node: str) -> None:
        now = self._world.now
        entries = {}
        for uid, pod in self._world.node_by_name[node].pods.items():
            probes = None if pod.is_gone else pod_probes(pod, self._results, now)
            if probes is not None:
                entries[uid] = probes
        self._give(inputs.ProbesChanged(node, NodeProbes(node, entries)))

    # What the guard wants.

    def _give(self, change: inputs.Input | None) -> None:
        for output in self._guard.handle(self._world.now, change):
            self._carry_out(output)
        deadline = self._guard.deadline(self._world.now)
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if deadline is not None:
            self._alarm = self._world.agenda.at(deadline, lambda: self._give(None))

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
                world.recorder.event(found)
            case _:
                # No PodUnavailableBudget, annotation or metric page is here.
                pass

    def _create(self, create: outputs.Create) -> None:
        meta = create.body["metadata"]
        key = (meta["namespace"], meta["name"])
        made = {**meta, "uid": meta["name"], "creationTimestamp": text(self._world.now)}
        self._requests[key] = {**create.body, "metadata": made, "status": {}}
        self._give(inputs.Wrote(create.number, "done"))
        self._show_request(key)
        self._world.agenda.at(self._world.now + PICK_NS, lambda: self._stop(key))

    def _delete(self, delete: outputs.Delete) -> None:
        if self._requests.pop(delete.key, None) is not None:
            self._give(inputs.RequestChanged(delete.key, None))
        self._give(inputs.Wrote(delete.number, "done"))

    def _show_request(self, key: tuple[str, str]) -> None:
        self._give(inputs.RequestChanged(key, read_request(self._requests[key])))

    # The nodes.

    def _stop(self, key: tuple[str, str]) -> None:
        """The node stops the container of a request: SIGTERM, and SIGKILL at the end of its grace."""
        request = self._requests.get(key)
        if request is None:
            return
        [wanted] = request["spec"]["containers"]
        pod = self._world.pods[request["metadata"]["ownerReferences"][0]["uid"]]
        container_id = wanted["statusContext"]["containerID"]
        request["status"] = {"phase": "Recreating", "containerRecreateStates": [_state(wanted["name"], "Recreating")]}
        self._show_request(key)
        if not pod.is_gone and pod.running_id(wanted["name"]) == container_id:
            found = self._results.get((pod.uid, wanted["name"]))
            message = "" if found is None else found.message
            kill = Kill(self._world.now / SECOND, pod.name, wanted["name"], "liveness", message)
            pod.kills.append(kill)
            self._world.recorder.kill(kill)
            strategy = request["spec"]["strategy"]
            default = pod.pod.spec.termination_grace_period_seconds or 0
            grace = max(MINIMUM_GRACE_SECONDS, strategy.get("terminationGracePeriodSeconds", default)) * SECOND
            takes = min(self._world.containers.stop_ns(pod.uid, wanted["name"]), grace)
            self._world.agenda.at(self._world.now + takes, lambda: pod.exit(container_id, KILLED))
        deadline = request["spec"]["activeDeadlineSeconds"] * SECOND
        self._world.agenda.at(self._world.now + deadline, lambda: self._finish(key, "Failed"))

    def _complete(self, pod: ClusterPod) -> None:
        """A request is completed when the pod has a new container and is ready."""
        for key, request in list(self._requests.items()):
            if request["metadata"]["ownerReferences"][0]["uid"] != pod.uid:
                continue
            [wanted] = request["spec"]["containers"]
            running = "" if pod.is_gone else pod.running_id(wanted["name"])
            if pod.is_gone:
                self._finish(key, "Failed")
            elif pod.is_ready and running not in ("", wanted["statusContext"]["containerID"]):
                self._finish(key, "Succeeded")

    def _finish(self, key: tuple[str, str], phase: str) -> None:
        request = self._requests.get(key)
        if request is None or request["status"].get("phase") != "Recreating":
            return
        [wanted] = request["spec"]["containers"]
        request["status"] = {
            "phase": "Completed",
            "completionTime": text(self._world.now),
            "containerRecreateStates": [_state(wanted["name"], phase)],
        }
        self._show_request(key)


def _state(name: str, phase: str) -> dict[str, str]:
    return {"name": name, "phase": phase}
