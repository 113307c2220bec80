"""The breakers: they hold restarts back that mend nothing (R-8, F-10, F-11).

Laws

1. Where the detector has put a pod's failure into an incident, its kind decides about the breakers of node and
   cluster. ``node`` and ``prober``: nothing of it is restarted. ``shared``: one at a time of all its pods, each in its
   turn, or as ``breaker.action`` says. An incident of one container or of one workload opens neither, however many pods
   of a node fail.
2. Where it has not, the share of a node's pods that fail decides: nobody looks for incidents, the detector does not
   know the pod, or has not decided yet. Something shared that has no name may as well be the node, so the share decides
   too.
3. Until the other pods of a node were probed since a failure began, nobody knows whether they fail. Then the failure
   waits for them, whatever its incident is by then.
4. The breaker of a workload goes by the share of its pods in any case: a wrong probe that is rolled out is an incident
   of the workload alone, and restarts do not mend it either.
"""

from typing import Final

from probelet.beside.guard.objects.node_probes import ProbeState
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.reason import CheckResult
from probelet.beside.guard.restart.state.flights import Flight
from probelet.beside.guard.restart.state.observed_cluster import ObservedCluster
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.policy.incidents import Incident
from probelet.spec.text.duration import SECOND

AGAIN_NS: Final = 30 * SECOND
"""When a pod that a breaker or budget refused is judged again without a change."""


def check_breakers(
    cluster: ObservedCluster, pod: GuardedPod, state: ProbeState, workload: WorkloadKey, now: int
) -> CheckResult | None:
    """Whether a breaker holds the restart of a pod back."""
    return (
        check_node(cluster, pod, state, now)
        or _check_again(cluster, pod, state, now)
        or _check_incident(cluster, pod, now)
        or _check_workload(cluster, workload, now)
    )


def check_node(cluster: ObservedCluster, pod: GuardedPod, state: ProbeState, now: int) -> CheckResult | None:
    """The breaker of the node. It is open too while nobody can know whether the node's other pods fail as well."""
    config, share, node = cluster.config, cluster.of_node, pod.node
    if share.probed(node) < config.node_breaker_min_pods:
        return None
    incident = cluster.incident(pod.uid)
    if incident is not None and incident.kind in ("node", "prober"):
        gate = ("incident", incident.id)
        return CheckResult("BreakerOpen", _named(incident), gate, now + AGAIN_NS, "node", incident.id)
    age_ns = cluster.age_ns(pod.uid, state, now)
    if not share.is_above(node, age_ns, config.node_breaker_ratio, config.node_breaker_min_pods):
        return None
    known = share.failing(node) + share.well(node, age_ns)
    silent = share.probed(node) - known
    if not silent and incident is not None and _is_elsewhere(incident):
        return None
    text = f"{share.failing(node)} of {known} probed pods of node {node} fail at once"
    if silent:
        text += f"; not probed since it began: {silent} more"
    wait_ns = min(AGAIN_NS, share.next_ns(node, age_ns) or AGAIN_NS)
    return CheckResult("BreakerOpen", text, ("node", node), now + wait_ns, "node")


def has_open_workload(cluster: ObservedCluster, uid: str, workload: WorkloadKey) -> bool:
    """Whether a pod's workload has its breaker open, whatever that holds back."""
    incident, config = cluster.incident(uid), cluster.config
    is_shared = incident is not None and incident.kind == "shared"
    return is_shared or cluster.of_workload.is_above(workload, config.breaker_ratio, config.breaker_min_pods)


def _is_elsewhere(incident: Incident) -> bool:
    """Whether what an incident is about cannot be a node."""
    return incident.kind in ("container", "workload") or (incident.kind == "shared" and bool(incident.value))


def _named(incident: Incident, more: str = "") -> str:
    """An event keeps the beginning of a text, so the evidence comes last."""
    return f"a restart would not mend incident {incident.id} ({incident.title}){more}: {incident.evidence}"


def _check_again(cluster: ObservedCluster, pod: GuardedPod, state: ProbeState, now: int) -> CheckResult | None:
    """The network of a node is back, and those of its probes that are made often say so first. The others get the time
    for an attempt of theirs before their failure counts."""
    if pod.uid not in cluster.node_held:
        return None
    until_ns = cluster.node_held[pod.uid] or now + cluster.span_ns(state)
    if until_ns <= now:
        return None
    text = f"the breaker of node {pod.node} was open, and the probe was not made since"
    return CheckResult("Reevaluating", text, until_ns=until_ns)


def _check_incident(cluster: ObservedCluster, pod: GuardedPod, now: int) -> CheckResult | None:
    """The breaker of the cluster: what many workloads share is mended by no restart of them. One at a time shows when
    it is."""
    incident = cluster.incident(pod.uid)
    if incident is None or incident.kind != "shared" or cluster.config.breaker_action == "off":
        return None
    more = ""
    if cluster.config.breaker_action == "serialize":
        trial = next((each.uid for each in cluster.flights if _belongs(cluster, each, incident)), None)
        first = trial or cluster.turns.get(incident.id, pod.uid)
        if trial is None and first == pod.uid:
            return None
        pod = cluster.pods.get(first, pod)
        more = f", and pod {pod.namespace}/{pod.name} of it is restarted first"
    gate = ("incident", incident.id)
    return CheckResult("BreakerOpen", _named(incident, more), gate, now + AGAIN_NS, "incident", incident.id)


def _belongs(cluster: ObservedCluster, flight: Flight, incident: Incident) -> bool:
    return flight.incident == incident.id or cluster.incident_id(flight.uid) == incident.id


def _check_workload(cluster: ObservedCluster, workload: WorkloadKey, now: int) -> CheckResult | None:
    config = cluster.config
    share, count = cluster.of_workload, cluster.flights.count(workload)
    if config.breaker_action == "off" or not share.is_above(workload, config.breaker_ratio, config.breaker_min_pods):
        return None
    text = f"{share.failed(workload)} of {share.probed(workload)} probed pods of {workload} fail at once"
    if config.breaker_action == "serialize":
        if not count:
            return None
        text += ", and one is being restarted"
    return CheckResult("BreakerOpen", text, ("workload", workload), now + AGAIN_NS, "workload")
