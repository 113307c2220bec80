"""From a granted restart to its request: the token, the reservations, the create.

Law: one restart at a time is between its token and its create (R-T). A place in a budget is written before the request
that needs it, so that the budget never sees one restart too many.
"""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from probelet._rust import TokenBucket
from probelet.beside.guard import names
from probelet.beside.guard.objects.budget import Budget, BudgetKey
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.node_probes import ProbeState
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.outbox import Outbox
from probelet.beside.guard.restart.protocol.outputs import AnnotatePod, Create, Delete, Regarding, Reserve
from probelet.beside.guard.restart.protocol.reason import CheckResult
from probelet.beside.guard.restart.request import request_body, request_name
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.state.flights import UNSEEN_NS, Flight
from probelet.beside.guard.restart.state.observed_cluster import ObservedCluster
from probelet.spec.text.duration import SECOND

REWRITE_NS: Final = 5 * SECOND
"""How often a reservation is written again: OpenKruise drops one of an update after 10 s (kruise 1.9.0)."""
RESERVE_RETRY_NS: Final = SECOND // 2
"""When a reservation that met a conflict is tried again (kruise 1.9.0)."""


@dataclass(slots=True)
class Pending:
    """A restart that has its token and waits for a budget."""

    uid: str
    number: int
    budget: BudgetKey
    reserved: dict[BudgetKey, int] = field(default_factory=dict)


class Launcher:
    """Starts restarts, one after the other."""

    def __init__(self, cluster: ObservedCluster, outbox: Outbox) -> None:
        self._cluster = cluster
        self._outbox = outbox
        config = cluster.config
        self._bucket = _bucket(config)
        # It begins empty: a controller that restarts often does not get a burst each time (F-3).
        self._bucket.take(0, config.burst)
        self._rate = config.tokens_per_minute, config.burst
        self.pending: Pending | None = None
        """The restart that waits for a budget."""
        self.creates: dict[int, str] = {}
        """The UID of the pod of each create without an answer."""
        self._began = False

    def begin(self, now: int) -> None:
        """Decisions begin: whatever the bucket has gained before does not count."""
        if not self._began:
            self._began = True
            self._bucket = _bucket(self._cluster.config)
            self._bucket.take(now, self._cluster.config.burst)

    def configure(self, now: int) -> None:
        """Take a new rate; the tokens stay, as far as the new bucket has room for them."""
        config = self._cluster.config
        if self._rate == (config.tokens_per_minute, config.burst):
            return
        self._rate = config.tokens_per_minute, config.burst
        held = self._bucket.available(now)
        self._bucket = _bucket(config)
        if config.burst > held:
            self._bucket.take(now, config.burst - held)

    def tokens(self, now: int) -> int:
        """How many tokens there are."""
        return self._bucket.available(now)

    def due(self, now: int) -> int:
        """When there is a token."""
        return self._bucket.due(now)

    def launch(self, uid: str, state: ProbeState, reserved: dict[BudgetKey, int], now: int) -> CheckResult | None:
        """Restart a container that passed every check; None once its request is on the way, or it waits for a
        budget."""
        cluster = self._cluster
        pod = cluster.pods[uid]
        container = pod.container(state.container)
        assert container is not None
        name = request_name(pod, container)
        existing = cluster.requests.get((pod.namespace, name))
        if existing is not None:
            # It completed without restarting this instance, and its back-off is over (3B.5).
            why = "it completed and the container is the same"
            self._outbox.put(Delete(self._outbox.number(), (pod.namespace, name), existing.uid, why))
            return CheckResult("PodBusy", f"ContainerRecreateRequest {name} is deleted first", ("pod", uid))
        if cluster.config.dry_run:
            self._bucket.take(now)
            cluster.history.restarted(f"{uid}/{state.container}", now)
            return CheckResult("DryRun", f"dryRun: {_cause(state)}")
        for budget in cluster.budgets.covering(pod, cluster.workloads.root(pod)):
            if budget.key not in reserved and self._wants_place(budget, pod):
                self._reserve(uid, pod, budget, reserved, now)
                return None
        self._create(pod, state, reserved, now)
        return None

    def _wants_place(self, budget: Budget, pod: GuardedPod) -> bool:
        config = self._cluster.config
        reserves = config.reserve_pdb if budget.kind == "PodDisruptionBudget" else config.reserve_pub
        return reserves and budget.has_status and pod.is_ready

    def _reserve(self, uid: str, pod: GuardedPod, budget: Budget, reserved: dict[BudgetKey, int], now: int) -> None:
        number = self._outbox.number()
        self.pending = Pending(uid, number, budget.key, reserved)
        self._outbox.put(Reserve(number, budget.key, self._place(budget, pod.name, now)))

    def _place(self, budget: Budget, pod: str, now: int) -> dict[str, object]:
        """The patch that writes a pod into a budget, or writes its time anew."""
        moment = text(self._cluster.wall(now))
        is_pdb = budget.kind == "PodDisruptionBudget"
        status: dict[str, object] = {"disruptedPods" if is_pdb else "unavailablePods": {pod: moment}}
        if pod not in budget.reserved:
            status["disruptionsAllowed" if is_pdb else "unavailableAllowed"] = max(0, budget.allowed - 1)
        return {"metadata": {"resourceVersion": budget.resource_version}, "status": status}

    def _create(self, pod: GuardedPod, state: ProbeState, reserved: dict[BudgetKey, int], now: int) -> None:
        cluster, outbox = self._cluster, self._outbox
        container = pod.container(state.container)
        assert container is not None
        self._bucket.take(now)
        body = request_body(pod, container, state, cluster.config, fills_context=cluster.options.fills_context)
        key = pod.namespace, body["metadata"]["name"]
        workload = cluster.workloads.root(pod)
        cluster.flights.begin(
            Flight(
                uid=pod.uid,
                workload=workload,
                request=key,
                container=container.name,
                container_id=container.container_id,
                until_ns=now + UNSEEN_NS,
                reserved=reserved,
                incident=cluster.incident_id(pod.uid),
            )
        )
        cluster.history.restarted(f"{pod.uid}/{container.name}", now)
        number = outbox.number()
        self.creates[number] = pod.uid
        outbox.decide(pod.uid, state, CheckResult("Restarting", _cause(state)), now)
        outbox.put(Create(number, body))
        regarding = Regarding("v1", "Pod", pod.namespace, pod.name, pod.uid)
        outbox.event(regarding, "Normal", "ELPRestarting", f"container {container.name}: {_cause(state)}")
        if cluster.config.annotate_pods:
            said = {"container": container.name, "reason": "Restarting", "time": text(cluster.wall(now))}
            annotations = {names.LAST_DECISION: msgspec.json.encode(said).decode()}
            patch = {"metadata": {"annotations": annotations}}
            outbox.put(AnnotatePod(pod.namespace, pod.name, pod.uid, patch))

    def rewrite(self, now: int) -> None:
        """Write reservations again before they expire."""
        cluster = self._cluster
        for flight in cluster.flights:
            pod = cluster.pods.get(flight.uid)
            if pod is None or not flight.reserved:
                continue
            covering = {each.key: each for each in cluster.budgets.covering(pod, flight.workload)}
            for key, at in list(flight.reserved.items()):
                if key not in covering:
                    del flight.reserved[key]
                elif now - at >= REWRITE_NS:
                    flight.reserved[key] = now
                    self._outbox.put(Reserve(self._outbox.number(), key, self._place(covering[key], pod.name, now)))

    def rewrite_due(self) -> int | None:
        """When the next reservation is written again."""
        moments = (at for flight in self._cluster.flights for at in flight.reserved.values())
        first = min(moments, default=None)
        return None if first is None else first + REWRITE_NS


def _bucket(config: Config) -> TokenBucket:
    return TokenBucket(burst=config.burst, interval_ns=60 * SECOND // config.tokens_per_minute)


def _cause(state: ProbeState) -> str:
    return f"its liveness probe failed: {state.message}" if state.message else "its liveness probe failed"
