"""Collects the outputs of one step, and keeps events of one kind apart in time."""

from typing import Final, Literal

from probelet.beside.guard.objects.budget import Budget
from probelet.beside.guard.objects.node_probes import ProbeState, cut
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.outputs import Decision, Event, Output, Regarding
from probelet.beside.guard.restart.protocol.reason import EVENT_EVERY_NS, TOLD
from probelet.beside.guard.restart.protocol.verdict import Verdict
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.beside.guard.restart.state.world import World

TOLD_MAX: Final = 50_000
"""Events that are remembered at most: a cluster with more failing pods gets some events more often."""


class Outbox:
    """The outputs of the machine, in their order."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._outputs: list[Output] = []
        self._numbers = 0
        self._told: dict[tuple[str, str], int] = {}

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

    def decide(self, uid: str, state: ProbeState, verdict: Verdict, now: int) -> None:
        """Say what was decided about a failed probe."""
        entry, pod = self._world.entries[uid][1], self._world.pods.get(uid)
        text = f"container {state.container}: {verdict.message}"
        self.put(Decision(verdict.reason, entry.namespace, entry.name, state.container, verdict.message))
        if pod is not None and verdict.reason in TOLD:
            self.tell_pod(pod, "Warning", verdict.reason, text, now)
        if verdict.reason == "BreakerOpen":
            self._tell_breaker(verdict, now)

    def tell_pod(self, pod: GuardedPod, type: Literal["Normal", "Warning"], reason: str, text: str, now: int) -> None:
        """An event of a pod, unless it had one of that reason a short while ago."""
        self._tell(Regarding("v1", "Pod", pod.namespace, pod.name, pod.uid), type, reason, text, now)

    def tell_budget(self, budget: Budget, now: int) -> None:
        """A warning about a budget that nobody keeps."""
        is_pdb = budget.kind == "PodDisruptionBudget"
        version = "policy/v1" if is_pdb else "policy.kruise.io/v1alpha1"
        regarding = Regarding(version, budget.kind, budget.namespace, budget.name, budget.uid)
        text = "the budget has no status, so no controller keeps it; restarts do not wait for it"
        self._tell(regarding, "Warning", "ELPBudgetWithoutStatus", text, now)

    def _tell_breaker(self, verdict: Verdict, now: int) -> None:
        assert isinstance(verdict.gate, tuple)
        scope, key = verdict.gate
        if scope == "node":
            self._tell(Regarding("v1", "Node", "", key, key), "Warning", "ELPBreakerOpen", verdict.message, now)
            return
        assert isinstance(key, WorkloadKey)
        workload = self._world.workloads.get(key)
        if workload is not None:
            regarding = Regarding(workload.api_version, workload.kind, key.namespace, key.name, workload.uid)
            self._tell(regarding, "Warning", "ELPBreakerOpen", verdict.message, now)

    def _tell(
        self, regarding: Regarding, type: Literal["Normal", "Warning"], reason: str, message: str, now: int
    ) -> None:
        key = (f"{regarding.kind}/{regarding.namespace}/{regarding.name}/{regarding.uid}", reason)
        if now - self._told.get(key, -EVENT_EVERY_NS) < EVENT_EVERY_NS:
            return
        if len(self._told) >= TOLD_MAX:
            del self._told[next(iter(self._told))]
        self._told.pop(key, None)
        self._told[key] = now
        self.event(regarding, type, reason, message)

    def event(self, regarding: Regarding, type: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """An event, however often."""
        self.put(Event(regarding, type, reason, cut(message)))
