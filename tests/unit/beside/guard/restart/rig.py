"""A cluster around the restart decision: pods, NodePodProbes, budgets, and nodes that carry out requests.

The rig answers writes as an API server does and keeps what the guard sent; time goes by in ``run``. The functions that
read the objects of an API server read those of the rig.
"""

from dataclasses import dataclass, field
from typing import Any

from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.budget import BudgetKey, read_disruption_budget, read_unavailable_budget
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import read_node_probes
from probelet.beside.guard.objects.pod import read_pod
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.restart.guard import Guard
from probelet.beside.guard.restart.protocol.inputs import (
    BudgetChanged,
    Configured,
    Input,
    NodeChanged,
    PodChanged,
    ProbesChanged,
    RequestChanged,
    Synced,
    WallClock,
    WorkloadChanged,
    Wrote,
)
from probelet.beside.guard.restart.protocol.outputs import (
    AnnotatePod,
    Create,
    Decision,
    Delete,
    Event,
    Finished,
    Output,
    Reserve,
)
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.settings.read import read_settings
from probelet.beside.guard.restart.state.world import GuardOptions

SECOND = 1_000_000_000
START_WALL = 1_795_000_000 * SECOND
"""Wall-clock time at now = 0, in 2026."""
HEARTBEAT = 60 * SECOND


@dataclass
class State:
    """What a node publishes of one probe."""

    word: str = "Unknown"
    since: int = 0
    probed: int = 0
    message: str = ""


@dataclass
class TestPod:
    """A pod of the rig."""

    __test__ = False

    name: str
    node: str
    workload: str
    containers: tuple[str, ...]
    labels: dict[str, str]
    uid: str
    is_ready: bool = True
    opt_in: str | None = "true"
    phase: str = "Running"
    restart_policy: str = "Always"
    annotations: dict[str, str] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    started: dict[str, int] = field(default_factory=dict)
    unready: set[str] = field(default_factory=set)
    probes: dict[str, State] = field(default_factory=dict)
    probe: dict[str, Any] = field(default_factory=dict)
    gates: tuple[str, ...] = ()

    def container_id(self, container: str) -> str:
        return f"containerd://{self.uid}-{container}-{self.restarts.get(container, 0)}"


class Rig:
    """The guard and a cluster. ``restart_seconds``: how long a node takes from a request to the ready container."""

    def __init__(
        self, config: dict[str, str] | None = None, *, restart_seconds: int = 20, serves: bool = True, **options: Any
    ) -> None:
        self.guard = Guard(GuardOptions(**options))
        self.now = 0
        self.restart_ns = restart_seconds * SECOND
        self.serves = serves
        self.pods: dict[str, TestPod] = {}
        self.requests: dict[tuple[str, str], dict[str, Any]] = {}
        self.budgets: dict[BudgetKey, dict[str, Any]] = {}
        self.outputs: list[tuple[int, Output]] = []
        self.answer: dict[type, str] = {}
        """How writes of a kind are answered instead of ``done``."""
        self.bad: set[str] = set()
        """Pods whose probe fails again a second after each restart."""
        self._due: list[tuple[int, int, Any]] = []
        self._numbers = 0
        self._versions = 0
        self.give(WallClock(START_WALL))
        self.configure(config or {})

    # Inputs.

    def give(self, change: Input | None) -> list[Output]:
        outputs = self.guard.handle(self.now, change)
        self.outputs += [(self.now, each) for each in outputs]
        for output in outputs:
            self._carry_out(output)
        return outputs

    def configure(self, data: dict[str, str]) -> None:
        config, problems = read_settings(data)
        assert config is not None, problems
        self.give(Configured(config))

    def sync(self, is_synced: bool = True) -> None:
        self.give(Synced(is_synced))

    def workload(self, name: str, replicas: int, kind: str = "StatefulSet") -> None:
        made = GuardedWorkload("apps/v1", kind, "default", name, f"uid-{name}", replicas)
        self.give(WorkloadChanged(made.uid, made))

    def pod(self, name: str, *, node: str = "node1", workload: str = "web", uid: str = "", **fields: Any) -> TestPod:
        containers = fields.pop("containers", ("app",))
        labels = fields.pop("labels", {"app": workload})
        made = TestPod(name, node, workload, containers, labels, uid or f"uid-{name}", **fields)
        made.started = dict.fromkeys(containers, self.now)
        made.probes = {container: State() for container in containers}
        self.pods[name] = made
        self.give(NodeChanged(node, GuardedNode(node)))
        self.show(made)
        self.publish(node)
        return made

    def pods_of(self, workload: str, count: int, *, per_node: int = 3, **fields: Any) -> list[TestPod]:
        """Pods of a workload, spread so that no node's breaker opens, and the workload itself."""
        self.workload(workload, count)
        return [
            self.pod(f"{workload}-{number}", node=f"{workload}-node-{number // per_node}", workload=workload, **fields)
            for number in range(count)
        ]

    def show(self, pod: TestPod) -> None:
        self.give(PodChanged(pod.uid, read_pod(self.pod_object(pod))))

    def gone(self, pod: TestPod) -> None:
        del self.pods[pod.name]
        self.give(PodChanged(pod.uid, None))
        self.publish(pod.node)

    def publish(self, node: str) -> None:
        self.give(ProbesChanged(node, read_node_probes(self.probes_object(node), self.guard._world.options.naming)))

    def fail(self, *pods: TestPod, container: str = "app", message: str = "HTTP probe failed") -> None:
        for pod in pods:
            self.set_state(pod, container, "Failed", message)
        for node in dict.fromkeys(pod.node for pod in pods):
            self.publish(node)

    def heal(self, *pods: TestPod, container: str = "app") -> None:
        for pod in pods:
            self.set_state(pod, container, "Succeeded")
        for node in dict.fromkeys(pod.node for pod in pods):
            self.publish(node)

    def set_state(self, pod: TestPod, container: str, word: str, message: str = "") -> None:
        state = pod.probes[container]
        if state.word != word:
            state.since = self.now
        state.word, state.probed, state.message = word, self.now, message

    def pdb(self, name: str = "web", **fields: Any) -> None:
        self._budget(("PodDisruptionBudget", "default", name), "policy/v1", fields)

    def pub(self, name: str = "web", **fields: Any) -> None:
        self._budget(("PodUnavailableBudget", "default", name), "policy.kruise.io/v1alpha1", fields)

    def _budget(self, key: BudgetKey, version: str, fields: dict[str, Any]) -> None:
        spec = {"selector": {"matchLabels": {"app": fields.pop("app", "web")}}} | fields.pop("spec", {})
        generation = fields.pop("generation", 1)
        status = {"observedGeneration": 1, **fields.pop("status", {})} if fields.get("status", {}) is not None else None
        meta = {"name": key[2], "namespace": key[1], "generation": generation, **fields.pop("metadata", {})}
        self.budgets[key] = {"apiVersion": version, "metadata": meta, "spec": spec, "status": status}
        self.show_budget(key)

    def show_budget(self, key: BudgetKey) -> None:
        self._versions += 1
        obj = self.budgets[key]
        obj["metadata"]["resourceVersion"] = str(self._versions)
        obj = {name: value for name, value in obj.items() if value is not None}
        read = read_disruption_budget if key[0] == "PodDisruptionBudget" else read_unavailable_budget
        self.give(BudgetChanged(key, read(obj)))

    # Objects as JSON.

    def pod_object(self, pod: TestPod) -> dict[str, Any]:
        statuses = [
            {
                "name": each,
                "containerID": pod.container_id(each),
                "restartCount": pod.restarts.get(each, 0),
                "ready": each not in pod.unready,
                "state": {"running": {"startedAt": self.at(pod.started[each])}} if each in pod.started else {},
            }
            for each in pod.containers
        ]
        owner = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": pod.workload,
            "uid": f"uid-{pod.workload}",
            "controller": True,
        }
        annotations = {CONTEXT: "[]", **pod.annotations} | ({} if pod.opt_in is None else {OPT_IN: pod.opt_in})
        ready = pod.is_ready and not pod.unready
        return {
            "metadata": {
                "name": pod.name,
                "namespace": "default",
                "uid": pod.uid,
                "labels": pod.labels,
                "annotations": annotations,
                "ownerReferences": [owner] if pod.workload else [],
            },
            "spec": {
                "nodeName": pod.node,
                "restartPolicy": pod.restart_policy,
                "containers": [{"name": each} for each in pod.containers],
                "readinessGates": [{"conditionType": each} for each in pod.gates],
            },
            "status": {
                "phase": pod.phase,
                "podIP": "10.0.0.1",
                "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
                "containerStatuses": statuses,
            },
        }

    def probes_object(self, node: str) -> dict[str, Any]:
        entries, statuses = [], []
        for pod in self.pods.values():
            if pod.node != node or pod.opt_in != "true":
                continue
            identity = {"name": pod.name, "namespace": "default", "uid": pod.uid}
            probes = [
                {"name": f"{pod.name}-{each}", "containerName": each, "probe": {"periodSeconds": 10, **pod.probe}}
                for each in pod.containers
            ]
            states = [
                {
                    "name": f"{pod.name}-{container}",
                    "state": state.word,
                    "lastProbeTime": self.at(state.probed),
                    "lastTransitionTime": self.at(state.since),
                    "message": state.message,
                }
                for container, state in pod.probes.items()
            ]
            entries.append({**identity, "IP": "10.0.0.1", "probes": probes})
            statuses.append({**identity, "probeStates": states})
        return {
            "metadata": {"name": node},
            "spec": {"podProbes": entries},
            "status": {"podProbeStatuses": statuses},
        }

    def at(self, now: int) -> str:
        return text(START_WALL + now)

    # The API server and the nodes.

    def _carry_out(self, output: Output) -> None:
        match output:
            case Create():
                self._create(output)
            case Delete():
                found = self.requests.get(output.key)
                if self.serves and found is not None and found["metadata"]["uid"] == output.uid:
                    del self.requests[output.key]
                    self.give(RequestChanged(output.key, None))
            case Reserve():
                self._reserve(output)
            case _:
                pass

    def _create(self, output: Create) -> None:
        meta = output.body["metadata"]
        key = (meta["namespace"], meta["name"])
        word = self.answer.get(Create, "done")
        if word == "done" and key in self.requests:
            word = "exists"
        if word == "done":
            self._versions += 1
            made = {
                **output.body,
                "metadata": {**meta, "uid": f"crr-{self._versions}", "creationTimestamp": self.at(self.now)},
            }
            self.requests[key] = made
        self.give(Wrote(output.number, word, "no" if word == "refused" else ""))  # type: ignore[arg-type]
        if word == "done":
            self.give(RequestChanged(key, read_request(self.requests[key])))
            if self.serves:
                self.later(2 * SECOND, lambda: self.begin(key))

    def _reserve(self, output: Reserve) -> None:
        word = self.answer.get(Reserve, "done")
        budget = self.budgets[output.budget]
        if word == "done" and output.patch["metadata"]["resourceVersion"] != budget["metadata"]["resourceVersion"]:
            word = "conflict"
        if word == "done":
            for name, value in output.patch["status"].items():
                old = budget["status"].get(name)
                budget["status"][name] = {**(old or {}), **value} if isinstance(value, dict) else value
            # The answer to a write comes before the watch shows it.
            budget["metadata"]["resourceVersion"] = "written"
        self.give(Wrote(output.number, word))  # type: ignore[arg-type]
        if word == "done":
            self.show_budget(output.budget)

    def begin(self, key: tuple[str, str]) -> None:
        """A node stops the container of a request; the new one is ready after ``restart_seconds``."""
        request = self.requests.get(key)
        if request is None:
            return
        request["status"] = {"phase": "Recreating"}
        self.give(RequestChanged(key, read_request(request)))
        pod = self.pods.get(request["spec"]["podName"])
        container = request["spec"]["containers"][0]["name"]
        if pod is not None:
            pod.unready.add(container)
            self.show(pod)
        self.later(self.restart_ns, lambda: self.finish(key))

    def finish(self, key: tuple[str, str], *, succeeded: bool = True, message: str = "") -> None:
        """A request completes; its container is a new one and ready, unless it did not succeed."""
        request = self.requests.get(key)
        if request is None:
            return
        container = request["spec"]["containers"][0]["name"]
        pod = self.pods.get(request["spec"]["podName"])
        if pod is not None and succeeded:
            pod.restarts[container] = pod.restarts.get(container, 0) + 1
            pod.started[container] = self.now
            pod.unready.discard(container)
            self.show(pod)
        if pod is not None and succeeded:
            self.set_state(pod, container, "Unknown")
            self.publish(pod.node)
            if pod.name in self.bad:
                self.later(SECOND, lambda: self.fail(pod, container=container))
        request["status"] = {
            "phase": "Completed",
            "completionTime": self.at(self.now),
            "message": message,
            "containerRecreateStates": [{"name": container, "phase": "Succeeded" if succeeded else "Failed"}],
        }
        self.give(RequestChanged(key, read_request(request)))

    # Time.

    def later(self, after_ns: int, call: Any) -> None:
        self._numbers += 1
        self._due.append((self.now + after_ns, self._numbers, call))
        self._due.sort(key=lambda item: item[:2])

    def run(self, seconds: float) -> None:
        """Let time go by: the guard's deadlines and the nodes' work, in order."""
        end = self.now + int(seconds * SECOND)
        for _ in range(200_000):
            deadline = self.guard.deadline(self.now)
            moments = [self._due[0][0] if self._due else None, deadline]
            at = min((each for each in moments if each is not None), default=end + 1)
            if at > end:
                self.now = end
                return
            self.now = max(at, self.now)
            if self._due and self._due[0][0] <= self.now:
                self._due.pop(0)[2]()
            else:
                self.give(None)
        raise AssertionError("the guard does not come to rest")

    def heartbeats(self, until_seconds: float) -> None:
        """From now on, nodes publish failures again each minute, as an agent does."""

        def beat() -> None:
            for node in dict.fromkeys(pod.node for pod in self.pods.values()):
                for pod in self.pods.values():
                    if pod.node == node:
                        for state in pod.probes.values():
                            state.probed = self.now
                self.publish(node)
            if self.now < until_seconds * SECOND:
                self.later(HEARTBEAT, beat)

        self.later(HEARTBEAT, beat)

    # What came out.

    def of(self, kind: type) -> list[Any]:
        return [output for _, output in self.outputs if isinstance(output, kind)]

    @property
    def creates(self) -> list[Create]:
        return self.of(Create)

    @property
    def created_at(self) -> list[float]:
        return [at / SECOND for at, output in self.outputs if isinstance(output, Create)]

    @property
    def created_pods(self) -> list[str]:
        return [each.body["spec"]["podName"] for each in self.creates]

    def reasons(self, pod: str | None = None) -> list[str]:
        return [each.reason for each in self.of(Decision) if pod is None or each.pod == pod]

    def last(self, pod: str) -> Decision:
        decisions: list[Decision] = self.of(Decision)
        return [each for each in decisions if each.pod == pod][-1]

    def events(self, reason: str) -> list[Event]:
        return [each for each in self.of(Event) if each.reason == reason]

    @property
    def in_flight(self) -> int:
        return sum(self.guard.gauges(self.now).in_flight.values())

    @property
    def queued(self) -> int:
        return sum(self.guard.gauges(self.now).queued.values())


FAST = {"rate.tokensPerMinute": "6000", "rate.burst": "100"}
"""A rate that does not matter for a test."""

__all__ = ["FAST", "HEARTBEAT", "SECOND", "AnnotatePod", "Config", "Finished", "Rig", "TestPod"]
