"""Collects the outputs of one step, and keeps events of one kind apart in time."""

from typing import Final, Literal, TypeAlias

from probelet.beside.guard.objects.budget import Budget
from probelet.beside.guard.objects.node_probes import ProbeState, cut
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.outputs import Decision, Event, Output, Regarding
from probelet.beside.guard.restart.protocol.reason import EVENT_EVERY_NS, WITH_EVENT, CheckResult
from probelet.beside.guard.restart.state.held import Held
from probelet.beside.guard.restart.state.observed_cluster import ObservedCluster

EventType: TypeAlias = Literal["Normal", "Warning"]

EVENTS_MAX: Final = 50_000
"""Events that are remembered at most: a cluster with more failing pods gets some events more often."""


class Outbox:
    """The outputs of the machine, in their order."""

    def __init__(self, cluster: ObservedCluster) -> None:
        self._cluster = cluster
        self._outputs: list[Output] = []
        self._numbers = 0
        self._event_ns: dict[tuple[str, str], int] = {}
        self.held = Held()

    def drain(self) -> list[Output]:
        """The outputs since the last call."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def number(self) -> int:
        """A new number for a write."""
        self._numbers += 1
        return self._numbers

    def put(self, output: Output) -> None:
        """Add an output."""
        self._outputs.append(output)

    def decide(self, uid: str, state: ProbeState, result: CheckResult, now: int) -> None:
        """Say what was decided about a failed probe."""
        entry, pod = self._cluster.entries[uid][1], self._cluster.pods.get(uid)
        text = f"container {state.container}: {result.message}"
        self.held.decided(uid, state.name, result.reason)
        self.put(Decision(result.reason, entry.namespace, entry.name, state.container, result.message))
        if pod is not None and result.reason in WITH_EVENT:
            self.pod_event(pod, "Warning", result.reason, text, now, result.incident)
        if result.breaker is not None and pod is not None:
            self._breaker_event(pod, result, now)

    def pod_event(self, pod: GuardedPod, type: EventType, reason: str, text: str, now: int, incident: str = "") -> None:
        """An event of a pod, unless it had one of that reason and incident a short while ago."""
        self._paced_event(Regarding("v1", "Pod", pod.namespace, pod.name, pod.uid), type, reason, text, now, incident)

    def budget_event(self, budget: Budget, now: int) -> None:
        """A warning about a budget that nobody keeps."""
        is_pdb = budget.kind == "PodDisruptionBudget"
        version = "policy/v1" if is_pdb else "policy.kruise.io/v1alpha1"
        regarding = Regarding(version, budget.kind, budget.namespace, budget.name, budget.uid)
        text = "the budget has no status, so no controller keeps it; restarts do not wait for it"
        self._paced_event(regarding, "Warning", "ELPBudgetWithoutStatus", text, now)

    def _breaker_event(self, pod: GuardedPod, result: CheckResult, now: int) -> None:
        """A warning about the node or the workload of a pod."""
        if result.breaker == "node":
            node = Regarding("v1", "Node", "", pod.node, pod.node)
            self._paced_event(node, "Warning", "ELPBreakerOpen", result.message, now, result.incident)
            return
        key = self._cluster.workloads.root(pod)
        workload = self._cluster.workloads.get(key)
        if workload is not None:
            regarding = Regarding(workload.api_version, workload.kind, key.namespace, key.name, workload.uid)
            self._paced_event(regarding, "Warning", "ELPBreakerOpen", result.message, now, result.incident)

    def _paced_event(
        self, regarding: Regarding, type: EventType, reason: str, message: str, now: int, incident: str = ""
    ) -> None:
        # A share often opens a breaker seconds before the detector has a name for what happened.
        key = (f"{regarding.kind}/{regarding.namespace}/{regarding.name}/{regarding.uid}", f"{reason} {incident}")
        if now - self._event_ns.get(key, -EVENT_EVERY_NS) < EVENT_EVERY_NS:
            return
        if len(self._event_ns) >= EVENTS_MAX:
            del self._event_ns[next(iter(self._event_ns))]
        self._event_ns.pop(key, None)
        self._event_ns[key] = now
        self.event(regarding, type, reason, message)

    def event(self, regarding: Regarding, type: EventType, reason: str, message: str) -> None:
        """An event, however often."""
        self.put(Event(regarding, type, reason, cut(message)))
