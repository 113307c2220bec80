"""The restart decision as a machine.

Laws

1. ``handle`` takes in one change, then does everything that follows at ``now``. The same inputs, and the same answers
   of the detector of incidents, give the same outputs.
2. Every judgement of a failed probe is a ``Decision`` with its reason. Only the failure whose restart is under way gets
   no further one.
3. A failed pod is in one place: it waits at a gate or for a moment, it is in the queue, or its restart is under way. A
   change of whatever it waits for judges it again, so none is forgotten.
4. Without ``Synced`` nothing is decided, created or deleted.
"""

from collections.abc import Hashable, Iterable, Iterator

from probelet.beside.guard.objects.budget import BudgetKey
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.objects.recreate_request import RECREATING, RecreateRequest
from probelet.beside.guard.restart.breakers import AGAIN_NS, check_node, has_open_workload
from probelet.beside.guard.restart.collection import EVERY_NS, collectable
from probelet.beside.guard.restart.judgement import Judgement, judge
from probelet.beside.guard.restart.landing import Landing
from probelet.beside.guard.restart.launch import RESERVE_RETRY_NS, Launcher
from probelet.beside.guard.restart.outbox import Outbox
from probelet.beside.guard.restart.protocol.inputs import (
    BudgetChanged,
    BudgetsReadable,
    Configured,
    IncidentChanged,
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
from probelet.beside.guard.restart.protocol.outputs import Delete, Gauges, Output
from probelet.beside.guard.restart.protocol.reason import REASONS, CheckResult
from probelet.beside.guard.restart.queue import GATHER_NS, Queue
from probelet.beside.guard.restart.state.budgets import gates
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions, IncidentOf, ObservedCluster
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.beside.guard.restart.waiting import Waiting


class Guard:
    """Decides which failed probes of a cluster lead to a restart. Has no clock: ``now`` is in nanoseconds.
    ``incident_of`` asks the detector of incidents; without one shares alone open breakers."""

    def __init__(self, options: GuardOptions | None = None, incident_of: IncidentOf | None = None) -> None:
        self._cluster = ObservedCluster(options or GuardOptions(), incident_of)
        self._outbox = Outbox(self._cluster)
        self._waiting = Waiting()
        self._queue = Queue(self._cluster.options.seed)
        self._launcher = Launcher(self._cluster, self._outbox)
        self._landing = Landing(self._cluster, self._outbox)
        self._opened: dict[Hashable, None] = {}
        """The gates at which the pods are to be judged again."""
        self._is_synced = False
        self._collect_ns = 0

    def handle(self, now: int, change: Input | None = None) -> list[Output]:
        """Takes in a change; without one, does what is due at ``now``."""
        if change is not None:
            self._apply(change, now)
        if self._is_synced:
            self._progress(now)
        return self._outbox.drain()

    def deadline(self, now: int) -> int | None:
        """When the machine has something to do without a change; None if it has not."""
        if not self._is_synced:
            return None
        moments = [
            self._waiting.deadline(),
            self._cluster.flights.deadline(),
            self._launcher.rewrite_due(),
            self._collect_ns,
        ]
        first = self._queue.due()
        if first is not None and self._launcher.pending is None:
            moments.append(max(first, self._launcher.due(now)))
        return max(now, min(each for each in moments if each is not None))

    def gauges(self, now: int) -> Gauges:
        """Returns the numbers of the state for the metric page."""
        return Gauges(
            tokens=self._launcher.tokens(now),
            queued=self._queue.depths(),
            in_flight=self._cluster.flights.counts(),
            open_workloads=len(self._open_workloads()),
            open_nodes=len(self._open_nodes(now)),
            held=self._outbox.held.longest(self._cluster.entries, self._cluster.wall(now)),
        )

    def _failing(self) -> Iterator[GuardedPod]:
        cluster = self._cluster
        return (cluster.pods[uid] for uid in cluster.failing() if uid in cluster.pods)

    def _open_workloads(self) -> set[WorkloadKey]:
        found: set[WorkloadKey] = set()
        for pod in self._failing():
            workload = self._cluster.workloads.root(pod)
            if workload not in found and has_open_workload(self._cluster, pod.uid, workload):
                found.add(workload)
        return found

    def _open_nodes(self, now: int) -> set[str]:
        found: set[str] = set()
        for pod in self._failing():
            # Thousands of pods may fail, and one of them that finds the breaker of its node open is enough.
            states = () if pod.node in found else self._cluster.failed(pod.uid)
            if any(check_node(self._cluster, pod, state, now) for state in states):
                found.add(pod.node)
        return found

    # Changes.

    def _apply(self, change: Input, now: int) -> None:
        cluster = self._cluster
        match change:
            case PodChanged():
                self._pod(change, now)
            case ProbesChanged():
                self._judge_all(sorted(cluster.change_probes(change.node, change.probes, now)), now)
            case RequestChanged():
                self._request(change, now)
            case BudgetChanged():
                cluster.budgets.change(change.key, change.budget, now)
                self._open_budget(change.key)
            case BudgetsReadable():
                cluster.budgets.readable(change.kind, change.readable)
                self._open(("budget", None))
            case NodeChanged():
                self._node(change, now)
            case WorkloadChanged():
                cluster.change_workload(change.uid, change.workload)
                if change.workload is not None:
                    each = change.workload
                    self._open(("workload", WorkloadKey(each.namespace, each.kind, each.name)))
            case Configured():
                cluster.configure(change.config)
                self._launcher.configure(now)
                self._judge_everything(now)
                self._delete_pending(list(cluster.requests.values()))
            case IncidentChanged():
                self._open(("incident", change.id))
            case Synced():
                self._synced(change, now)
            case WallClock():
                cluster.offset_ns = change.offset_ns
            case Wrote():
                self._wrote(change, now)

    def _pod(self, change: PodChanged, now: int) -> None:
        self._cluster.change_pod(change.uid, change.pod, now)
        self._landing.pod(change.uid)
        self._judge_all([change.uid], now)

    def _request(self, change: RequestChanged, now: int) -> None:
        before = self._cluster.requests.get(change.key)
        self._landing.request(change.key, change.request, now)
        for request in (before, change.request):
            if request is not None:
                self._open(("pod", request.pod_uid))
        if change.request is not None:
            self._delete_pending([change.request])

    def _node(self, change: NodeChanged, now: int) -> None:
        if change.node is None:
            self._cluster.nodes.pop(change.name, None)
        else:
            before = self._cluster.nodes.get(change.name)
            self._cluster.nodes[change.name] = change.node
            if before is not None and before.is_ready == change.node.is_ready:
                return
        self._judge_all(self._cluster.failing_on(change.name), now)

    def _synced(self, change: Synced, now: int) -> None:
        was_synced, self._is_synced = self._is_synced, change.is_synced
        if change.is_synced and not was_synced:
            self._landing.recall(now)
            self._launcher.begin(now)
            self._collect_ns = now + EVERY_NS
            self._judge_everything(now)
            self._delete_pending(list(self._cluster.requests.values()))
        elif not change.is_synced:
            for uid in list(self._queue):
                self._queue.drop(uid)
            self._cluster.turns.clear()
            self._launcher.pending = None
            # After an absence every failure gathers others anew before it counts.
            self._cluster.failed_since.clear()

    def _wrote(self, change: Wrote, now: int) -> None:
        pending = self._launcher.pending
        if pending is not None and pending.number == change.number:
            self._launcher.pending = None
            if change.outcome == "done":
                self._start(pending.uid, now, {**pending.reserved, pending.budget: now})
            else:
                self._wait(pending.uid, ("budget", pending.budget), now + RESERVE_RETRY_NS)
            return
        uid = self._launcher.creates.pop(change.number, None)
        if uid is not None and change.outcome in ("refused", "gone"):
            self._landing.rejected(uid)
            for state in self._cluster.failed(uid):
                text = f"{REASONS['CreateRejected']}: {change.message}"
                self._outbox.decide(uid, state, CheckResult("CreateRejected", text), now)
            if uid in self._cluster.pods:
                pod = self._cluster.pods[uid]
                self._outbox.pod_event(pod, "Warning", "ELPCreateRejected", change.message, now)
            self._judge_all([uid], now)

    # Judging.

    def _judge_everything(self, now: int) -> None:
        self._judge_all(sorted(self._cluster.failing()), now)

    def _judge_all(self, uids: Iterable[str], now: int) -> None:
        for uid in uids:
            self._judge(uid, now)

    def _judge(self, uid: str, now: int) -> Hashable:
        """Judge a pod and put it where it belongs; returns the gate at which it waits."""
        pending = self._launcher.pending
        if not self._is_synced or (pending is not None and pending.uid == uid):
            return None
        failed = self._cluster.failed(uid)
        if not failed:
            self._recovered(uid, now)
            return None
        self._cluster.failed_since.note(uid, [state.name for state in failed], now)
        judgement = judge(self._cluster, uid, now)
        self._report(uid, judgement, now)
        if judgement.chosen is None:
            self._leave_queue(uid)
            self._wait(uid, judgement.gate, judgement.until_ns)
            return judgement.gate
        if uid in self._queue:
            return None
        workload = self._cluster.workloads.root(self._cluster.pods[uid])
        if self._queue.depth(workload) >= self._cluster.config.queue_per_workload:
            self._outbox.decide(uid, judgement.chosen, CheckResult("QueueFull", REASONS["QueueFull"]), now)
            self._waiting.put(uid, ("workload", workload), None)
            return ("workload", workload)
        self._waiting.drop(uid)
        self._take_turn(uid)
        known_ns = self._cluster.failed_since.of(uid, judgement.chosen.name, now)
        self._queue.add(uid, workload, known_ns + GATHER_NS)
        self._outbox.decide(uid, judgement.chosen, CheckResult("Queued", REASONS["Queued"]), now)
        return None

    def _report(self, uid: str, judgement: Judgement, now: int) -> None:
        for state, result in judgement.refused:
            self._outbox.decide(uid, state, result, now)
        pod = self._cluster.pods.get(uid)
        if pod is not None:
            self._note_breaker(pod, judgement)
            for budget in self._cluster.budgets.without_status(pod, self._cluster.workloads.root(pod), now):
                self._outbox.budget_event(budget, now)

    def _note_breaker(self, pod: GuardedPod, judgement: Judgement) -> None:
        held = self._cluster.node_held
        for _, result in judgement.refused:
            if result.breaker == "node" and self._cluster.of_node.failing(pod.node) > 1:
                held[pod.uid] = None
            elif result.reason == "Reevaluating" and held.get(pod.uid, 0) is None:
                held[pod.uid] = result.until_ns
        if judgement.chosen is not None:
            held.pop(pod.uid, None)

    def _recovered(self, uid: str, now: int) -> None:
        self._cluster.failed_since.forget(uid)
        self._cluster.node_held.pop(uid, None)
        self._outbox.held.forget(uid)
        self._waiting.drop(uid)
        self._leave_turn(uid)
        if self._leave_queue(uid) and uid in self._cluster.entries:
            for state in self._cluster.entries[uid][1].probes:
                self._outbox.decide(uid, state, CheckResult("Recovered", REASONS["Recovered"]), now)

    def _leave_queue(self, uid: str) -> bool:
        workload = self._queue.drop(uid)
        if workload is not None:
            self._open(("workload", workload))
        return workload is not None

    def _take_turn(self, uid: str) -> None:
        """The pod is next of its incident: no other one of it is restarted before (R-8)."""
        incident = self._cluster.incident_id(uid)
        if incident is not None:
            self._cluster.turns.setdefault(incident, uid)

    def _leave_turn(self, uid: str) -> None:
        turns = self._cluster.turns
        for incident in [incident for incident, each in turns.items() if each == uid]:
            del turns[incident]
            self._open(("incident", incident))

    # What follows.

    def _progress(self, now: int) -> None:
        self._landing.expire(now)
        self._judge_all(self._waiting.due(now), now)
        if now >= self._collect_ns:
            self._collect_ns = now + EVERY_NS
            for request, why in collectable(self._cluster, now):
                self._delete(request.namespace, request.name, request.uid, why)
        self._launcher.rewrite(now)
        self._pass_gates(now)
        while self._launcher.pending is None and self._launcher.tokens(now):
            uid = self._queue.next(now, is_random=self._cluster.config.queue_random)
            if uid is None:
                break
            self._leave_queue(uid)
            self._start(uid, now, {})
            self._pass_gates(now)

    def _start(self, uid: str, now: int, reserved: dict[BudgetKey, int]) -> None:
        """Judge a pod once more, and restart its container (R-X)."""
        if not self._cluster.failed(uid):
            return
        judgement = judge(self._cluster, uid, now, reserved)
        self._report(uid, judgement, now)
        gate, until = judgement.gate, judgement.until_ns
        if judgement.chosen is not None:
            self._take_turn(uid)
            result = self._launcher.launch(uid, judgement.chosen, reserved, now)
            if result is None:
                # The pod is judged again when its restart is over, which a change of its request shows.
                self._waiting.put(uid, ("pod", uid), None)
                if self._launcher.pending is None:
                    self._leave_turn(uid)
                return
            self._outbox.decide(uid, judgement.chosen, result, now)
            gate, until = result.gate, now + AGAIN_NS
        self._wait(uid, gate, until)

    def _wait(self, uid: str, gate: Hashable, until_ns: int | None) -> None:
        """A pod that is refused gives its turn to the next one."""
        self._leave_turn(uid)
        self._waiting.put(uid, gate, until_ns)

    def _open(self, gate: Hashable) -> None:
        self._opened[gate] = None

    def _open_budget(self, key: BudgetKey) -> None:
        for gate in gates(key):
            self._open(("budget", gate))

    def _pass_gates(self, now: int) -> None:
        """Judge the pods at each gate that opened, in their order, until one is refused there again."""
        for flight in self._landing.ended:
            self._open(("pod", flight.uid))
            self._open(("workload", flight.workload))
            for incident in (flight.incident, self._cluster.incident_id(flight.uid)):
                if incident is not None:
                    self._open(("incident", incident))
            pod = self._cluster.pods.get(flight.uid)
            for budget in () if pod is None else self._cluster.budgets.covering(pod, flight.workload):
                self._open_budget(budget.key)
        self._landing.ended.clear()
        while self._opened:
            gate = next(iter(self._opened))
            del self._opened[gate]
            for uid in self._waiting.at(gate):
                if self._judge(uid, now) == gate:
                    break

    # Requests that are not wanted any more.

    def _delete_pending(self, requests: Iterable[RecreateRequest]) -> None:
        """With ``enabled: false``, requests of ours that no node has begun are deleted (F-1)."""
        if self._cluster.config.enabled or not self._is_synced:
            return
        for request in requests:
            if request.is_ours and request.is_live and request.phase != RECREATING:
                why = "the configuration has enabled: false"
                self._delete(request.namespace, request.name, request.uid, why)

    def _delete(self, namespace: str, name: str, uid: str, why: str) -> None:
        self._outbox.put(Delete(self._outbox.number(), (namespace, name), uid, why))
