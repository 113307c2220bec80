"""A cluster around the restart decision: pods, NodePodProbes, budgets, and the requests of the virtual cluster.

The rig answers writes as an API server does and keeps what the guard sent; time goes by in ``run``. The functions that
read the objects of an API server read those of the rig.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.budget import BudgetKey, read_disruption_budget, read_unavailable_budget
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import FAILED_BEAT_NS, read_node_probes
from probelet.beside.guard.objects.node_probes import State as Word
from probelet.beside.guard.objects.pod import read_pod
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request
from probelet.beside.guard.objects.requested_pod import RequestedPod, read_requested_pod
from probelet.beside.guard.restart.guard import Guard
from probelet.beside.guard.restart.protocol.inputs import (
    BudgetChanged,
    Configured,
    Input,
    NodeChanged,
    PodChanged,
    ProbesChanged,
    RequestChanged,
    RequestKey,
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
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions
from probelet.beside.probes.merge import with_status
from probelet.beside.probes.report import Report
from probelet.beside.probes.wanted import Key
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.incidents import Incident
from probelet.virtual.agenda import Agenda
from probelet.virtual.cluster.guarded.requests import Object, Requests

SECOND, MS = 1_000_000_000, 1_000_000
START_WALL = 1_795_000_000 * SECOND
"""Wall-clock time at now = 0, in 2026."""
WATCH_NS = 2 * SECOND
"""How long a node takes to learn of a request."""


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
    is_hung: bool = False
    """Not ready until its container is another instance."""
    opt_in: str | None = "true"
    phase: str = "Running"
    restart_policy: str = "Always"
    annotations: dict[str, str] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    started: dict[str, int] = field(default_factory=dict)
    unready: set[str] = field(default_factory=set)
    probes: dict[str, Report] = field(default_factory=dict)
    probe: dict[str, Any] = field(default_factory=dict)
    gates: tuple[str, ...] = ()

    def container_id(self, container: str) -> str:
        return f"containerd://{self.uid}-{container}-{self.restarts.get(container, 0)}"


class RequestedTestPods:
    """The pods of a rig as requests meet them: a stop lasts until the next instance is ready."""

    runtime = "containerd"

    def __init__(self, rig: "Rig") -> None:
        self._rig = rig

    def of_api(self, request: RecreateRequest) -> RequestedPod | None:
        pod = self._rig.pods.get(request.pod_name)
        found = None if pod is None else read_requested_pod(self._rig.pod_object(pod))
        return None if found is None else replace(found, has_readiness_gate=False)

    def snapshot(self, uid: str) -> Snapshot | None:
        pod = next((pod for pod in self._rig.pods.values() if pod.uid == uid), None)
        return None if pod is None else Snapshot(containers=tuple(_record(pod, each) for each in pod.containers))

    def stop(self, request: RecreateRequest, container: str, id: str, on_end: Callable[[], None]) -> None:
        pod = self._rig.pods[request.pod_name]
        pod.unready.add(container)
        self._rig.show(pod)

        def end() -> None:
            if self._rig.pods.get(pod.name) is pod:
                self._rig.restart(pod, container)
            on_end()

        self._rig.later(self._rig.restart_ns, end)


def _record(pod: TestPod, name: str) -> ContainerRecord:
    started_ms = (START_WALL + pod.started[name]) // MS
    id, count = pod.container_id(name), pod.restarts.get(name, 0)
    return ContainerRecord(id, name, State.RUNNING, count, started_at_ms=started_ms)


class Rig:
    """The guard and a cluster. ``restart_seconds``: how long a node takes from a stop to the next ready container.
    ``serves``: nodes and manager work at requests, and deletions reach the API server."""

    def __init__(
        self, config: dict[str, str] | None = None, *, restart_seconds: int = 20, serves: bool = True, **options: Any
    ) -> None:
        self.incidents: dict[str, Incident] = {}
        """The open incident of each pod, by UID, as the detector says."""
        self.guard = Guard(GuardOptions(**options), self.incidents.get)
        self.agenda = Agenda()
        self.restart_ns = restart_seconds * SECOND
        self.serves = serves
        self.pods: dict[str, TestPod] = {}
        self.played = Requests(
            self.agenda, RequestedTestPods(self), self._request_changed, watch_ns=WATCH_NS, offset_ns=START_WALL
        )
        self.budgets: dict[BudgetKey, dict[str, Any]] = {}
        self.outputs: list[tuple[int, Output]] = []
        self.answer: dict[type, str] = {}
        """How writes of a kind are answered instead of ``done``."""
        self.bad: set[str] = set()
        """Pods whose probe fails again a second after each restart."""
        self._versions = 0
        self.give(WallClock(START_WALL))
        self.configure(config or {})

    @property
    def now(self) -> int:
        return self.agenda.now

    @property
    def requests(self) -> dict[RequestKey, Object]:
        """The requests that the API server has."""
        return self.played.objects

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
        made.probes = {each: Report("Unknown", START_WALL // MS, START_WALL // MS) for each in containers}
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
        self.played.pod_changed(pod.uid)

    def gone(self, pod: TestPod) -> None:
        del self.pods[pod.name]
        self.give(PodChanged(pod.uid, None))
        self.played.pod_changed(pod.uid)
        self.publish(pod.node)

    def publish(self, node: str) -> None:
        self.give(ProbesChanged(node, read_node_probes(self.probes_object(node), self.guard._cluster.options.naming)))

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

    def set_state(self, pod: TestPod, container: str, word: Word, message: str = "") -> None:
        before, now_ms = pod.probes[container], self.wall_ms
        since_ms = before.since_ms if before.state == word else now_ms
        pod.probes[container] = Report(word, since_ms, now_ms, message)

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
        ready = pod.is_ready and not pod.is_hung and not pod.unready
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
        entries, reports = [], dict[Key, Report]()
        for pod in self.pods.values():
            if pod.node != node or pod.opt_in != "true":
                continue
            probes = [
                {"name": f"{pod.name}-{each}", "containerName": each, "probe": {"periodSeconds": 10, **pod.probe}}
                for each in pod.containers
            ]
            reports |= {(pod.uid, f"{pod.name}-{name}"): report for name, report in pod.probes.items()}
            identity = {"name": pod.name, "namespace": "default", "uid": pod.uid}
            entries.append({**identity, "IP": "10.0.0.1", "probes": probes})
        obj = {"metadata": {"name": node}, "spec": {"podProbes": entries}}
        return with_status(obj, reports) or obj

    @property
    def wall_ms(self) -> int:
        return (START_WALL + self.now) // MS

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
                    self.played.delete(output.key)
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
        self.give(Wrote(output.number, word, "no" if word == "refused" else ""))  # type: ignore[arg-type]
        if word != "done":
            return
        if self.serves:
            self.played.create(output.body)
        else:
            made = {**meta, "uid": f"uid-{meta['name']}", "creationTimestamp": self.at(self.now)}
            self.requests[key] = {**output.body, "metadata": made}
            self._request_changed(key, self.requests[key])

    def _request_changed(self, key: RequestKey, obj: Object | None) -> None:
        self.give(RequestChanged(key, None if obj is None else read_request(obj)))

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

    def restart(self, pod: TestPod, container: str) -> None:
        """The kubelet has started another instance, which is ready and was not probed yet."""
        pod.restarts[container] = pod.restarts.get(container, 0) + 1
        pod.started[container] = self.now
        pod.is_hung = False
        pod.unready.discard(container)
        self.show(pod)
        self.set_state(pod, container, "Unknown")
        self.publish(pod.node)
        if pod.name in self.bad:
            self.later(SECOND, lambda: self.fail(pod, container=container))

    def finish(self, key: RequestKey, *, succeeded: bool = True, message: str = "") -> None:
        """Somebody completes a request; its container is another instance, unless it did not succeed."""
        request = self.requests[key]
        container = request["spec"]["containers"][0]["name"]
        pod = self.pods.get(request["spec"]["podName"])
        if pod is not None and succeeded:
            self.restart(pod, container)
        request["status"] = {
            "phase": "Completed",
            "completionTime": self.at(self.now),
            "message": message,
            "containerRecreateStates": [{"name": container, "phase": "Succeeded" if succeeded else "Failed"}],
        }
        self._request_changed(key, request)

    # Time.

    def later(self, after_ns: int, call: Callable[[], object]) -> None:
        self.agenda.at(self.now + after_ns, call)

    def run(self, seconds: float) -> None:
        """Let time go by: the guard's deadlines and the agenda, in order."""
        agenda, end = self.agenda, self.now + int(seconds * SECOND)
        for _ in range(200_000):
            entry = agenda.next_ns()
            moments = [each for each in (entry, self.guard.deadline(self.now)) if each is not None]
            at = min(moments, default=end + 1)
            if at > end:
                agenda.now = end
                return
            agenda.now = max(at, self.now)
            if entry is not None and entry <= self.now:
                agenda.run_due()
            else:
                self.give(None)
        raise AssertionError("the guard does not come to rest")

    def heartbeats(self, until_seconds: float) -> None:
        """From now on, nodes publish failures again each minute, as an agent does."""

        def beat() -> None:
            for node in dict.fromkeys(pod.node for pod in self.pods.values()):
                for pod in self.pods.values():
                    for name, report in pod.probes.items() if pod.node == node else ():
                        pod.probes[name] = replace(report, probed_ms=self.wall_ms)
                self.publish(node)
            if self.now < until_seconds * SECOND:
                self.later(FAILED_BEAT_NS, beat)

        self.later(FAILED_BEAT_NS, beat)

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

__all__ = ["FAST", "SECOND", "AnnotatePod", "Config", "Finished", "Rig", "TestPod"]
