"""The restart decision's view of the cluster. Takes in changes, decides nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import msgspec

from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import (
    FAILED_BEAT_NS,
    PUBLISHED_NS,
    NodeProbes,
    PodProbes,
    ProbeState,
)
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.objects.probe_name import Naming
from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.restart.protocol.inputs import RequestKey
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.state.breakers import Share
from probelet.beside.guard.restart.state.budgets import Budgets
from probelet.beside.guard.restart.state.failed_since import FailedSince
from probelet.beside.guard.restart.state.flights import Flights
from probelet.beside.guard.restart.state.history import History
from probelet.beside.guard.restart.state.node_share import NodeShare
from probelet.beside.guard.restart.state.workloads import WorkloadKey, Workloads
from probelet.policy.incidents import Incident
from probelet.spec.text.duration import SECOND

KRUISE_HEARTBEAT_NS: Final = 600_000_000_000
"""How often OpenKruise's daemon does (kruise 1.9.0 ``maxSyncProbeTime``)."""

IncidentOf: TypeAlias = Callable[[str], Incident | None]
"""Returns the open incident that a pod belongs to while most of it still fails, by the pod's UID."""


class GuardOptions(msgspec.Struct, frozen=True):
    """``naming``: of probes. ``heartbeat_ns``: how often nodes publish a failure that goes on. ``seed``: of the queue.
    ``fills_context``: no webhook fills the ``statusContext`` of requests, so the guard does. ``shows_attempts``: nodes
    publish that a last attempt failed, as probelet's agents do; OpenKruise's daemon publishes states alone."""

    naming: Naming = "seed"
    heartbeat_ns: int = FAILED_BEAT_NS
    seed: int = 0
    fills_context: bool = True
    shows_attempts: bool = True


class ObservedCluster:
    """The objects of the cluster, and what is counted of them."""

    def __init__(self, options: GuardOptions, incident_of: IncidentOf | None = None) -> None:
        self.options = options
        self._incident_of = incident_of
        self.config = Config()
        self.offset_ns = 0
        self.pods: dict[str, GuardedPod] = {}
        self.entries: dict[str, tuple[str, PodProbes]] = {}
        """The probes of each pod, with the node whose NodePodProbe has them."""
        self.nodes: dict[str, GuardedNode] = {}
        self.workloads = Workloads()
        self.requests: dict[RequestKey, RecreateRequest] = {}
        self.budgets = Budgets()
        self.flights = Flights()
        self.history = History(self.config)
        self.of_workload = Share()
        self.of_node = NodeShare()
        self.failed_since = FailedSince()
        self.node_held: dict[str, int | None] = {}
        """The failed pods that the breaker of their node has held back, as not the only ones that fail there. None: it
        was open when they were last judged; a moment: it closed, and by then their probe has been made again."""
        self.turns: dict[str, str] = {}
        """The pod that is next of those of each incident, while it waits for its restart to begin."""
        self._uids_on: defaultdict[str, set[str]] = defaultdict(set)
        self._uids_owned: defaultdict[str, set[str]] = defaultdict(set)
        self._requests_of: defaultdict[str, set[RequestKey]] = defaultdict(set)
        self._unready: dict[str, int] = {}

    # Changes.

    def change_pod(self, uid: str, pod: GuardedPod | None, now: int) -> None:
        """Take in a pod."""
        before = self.pods.pop(uid, None)
        if before is not None and before.owner is not None:
            self._uids_owned[before.owner.uid].discard(uid)
        if pod is None:
            self._unready.pop(uid, None)
            self.history.forget(uid)
        else:
            self.pods[uid] = pod
            if pod.owner is not None:
                self._uids_owned[pod.owner.uid].add(uid)
            if pod.is_ready:
                self._unready.pop(uid, None)
            else:
                self._unready.setdefault(uid, now)
        self._count(uid)

    def change_probes(self, node: str, probes: NodeProbes | None, now: int) -> set[str]:
        """Take in the NodePodProbe of a node; returns the UIDs of the pods whose probes changed."""
        after = {} if probes is None else probes.pods
        changed = set[str]()
        for uid in self._uids_on.pop(node, set()) - set(after):
            if uid in self.entries and self.entries[uid][0] == node:
                del self.entries[uid]
                changed.add(uid)
        for uid, entry in after.items():
            held = self.entries.get(uid)
            if held is not None and held[0] != node and self._lives_on(uid, held[0]):
                # The pod is on the other node; this entry is about to be removed.
                continue
            if held != (node, entry):
                changed.add(uid)
                self.entries[uid] = (node, entry)
            self._uids_on[node].add(uid)
        for uid in changed:
            self._record(uid, now)
            self._count(uid)
        return changed

    def _lives_on(self, uid: str, node: str) -> bool:
        pod = self.pods.get(uid)
        return pod is not None and pod.node == node

    def change_request(self, key: RequestKey, request: RecreateRequest | None) -> None:
        """Take in a request."""
        before = self.requests.pop(key, None)
        if before is not None:
            self._requests_of[before.pod_uid].discard(key)
        if request is not None:
            self.requests[key] = request
            self._requests_of[request.pod_uid].add(key)

    def change_workload(self, uid: str, workload: GuardedWorkload | None) -> None:
        """Take in a workload; its pods may belong to another root now."""
        below = self.workloads.below(uid)
        self.workloads.change(uid, workload)
        for owner in below | self.workloads.below(uid):
            for pod in self._uids_owned.get(owner, ()):
                self._count(pod)

    def configure(self, config: Config) -> None:
        """Take in a configuration."""
        self.config = config
        self.history.configure(config)

    def _record(self, uid: str, now: int) -> None:
        if uid in self.entries:
            for state in self.entries[uid][1].probes:
                key = f"{uid}/{state.container}"
                self.history.state(key, now, has_succeeded=state.state == "Succeeded")

    def _count(self, uid: str) -> None:
        """Count a pod for the breakers; only pods that are probed and wanted count."""
        pod = self.pods.get(uid)
        if uid not in self.entries or pod is None or not pod.is_opted_in or not pod.is_active:
            self.of_workload.drop(uid)
            self.of_node.drop(uid)
            return
        probes = self.entries[uid][1].probes
        self.of_workload.put(uid, self.workloads.root(pod), is_failed=any(each.state == "Failed" for each in probes))
        span_ns = max(self.span_ns(each) for each in probes)
        self.of_node.put(uid, pod.node, is_failing=any(each.is_failing for each in probes), span_ns=span_ns)

    def span_ns(self, state: ProbeState) -> int:
        """The longest time from any moment until an attempt that began after it would be published if it failed."""
        runs = 1 if self.options.shows_attempts else state.failure_threshold
        return (runs * state.period_seconds + state.timeout_seconds) * SECOND + PUBLISHED_NS

    # Questions.

    def wall(self, now: int) -> int:
        """Nanoseconds since the Unix epoch."""
        return now + self.offset_ns

    def failed(self, uid: str) -> list[ProbeState]:
        """The failed probes of a pod."""
        if uid not in self.entries:
            return []
        return [each for each in self.entries[uid][1].probes if each.state == "Failed"]

    def age_ns(self, uid: str, state: ProbeState, now: int) -> int:
        """For how long at least a failed probe has failed, since the end of the first attempt that did, by the own
        clock."""
        first = (state.failure_threshold - 1) * state.period_seconds * SECOND
        return now - self.failed_since.of(uid, state.name, now) + first

    def incident(self, uid: str) -> Incident | None:
        """The open incident that a pod belongs to; None too if the detector has not decided, or nobody asks one."""
        if self._incident_of is None or not self.config.breaker_incidents:
            return None
        return self._incident_of(uid)

    def incident_id(self, uid: str) -> str | None:
        """The name of the open incident that a pod belongs to."""
        incident = self.incident(uid)
        return None if incident is None else incident.id

    def failing(self) -> list[str]:
        """The UIDs of all pods with a failed probe."""
        return [uid for uid in self.entries if self.failed(uid)]

    def failing_on(self, node: str) -> list[str]:
        """The UIDs of a node's pods with a failed probe, in order."""
        return sorted(uid for uid in self._uids_on.get(node, ()) if self.failed(uid))

    def replicas(self, workload: WorkloadKey) -> int:
        """How many pods a workload has: as it says, or as many as are probed."""
        found = self.workloads.get(workload)
        if found is not None and found.replicas is not None:
            return found.replicas
        return self.of_workload.probed(workload)

    def requests_of(self, uid: str) -> list[RecreateRequest]:
        """The requests for a pod."""
        return [self.requests[key] for key in sorted(self._requests_of.get(uid, ()))]

    def in_flight(self, namespace: str) -> Iterator[tuple[GuardedPod, WorkloadKey]]:
        """The pods of a namespace that are being restarted."""
        for flight in self.flights:
            pod = self.pods.get(flight.uid)
            if pod is not None and pod.namespace == namespace:
                yield pod, flight.workload

    def unready_ns(self, uid: str) -> int | None:
        """When a pod became unready; None while it is ready."""
        return self._unready.get(uid)
