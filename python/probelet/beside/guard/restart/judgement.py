"""The order of the checks (R-1 to R-B): the first one that refuses decides.

Law: a judgement depends on the cluster's state and on ``now`` alone, and changes nothing. So it can be made twice: when
a failure arrives, and again when the restart gets its token (R-X).
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

from probelet.beside.guard.objects.budget import BudgetKey
from probelet.beside.guard.objects.node_probes import ProbeState
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.breakers import AGAIN_NS, check_breakers
from probelet.beside.guard.restart.conditions import check_pod, check_state, check_switches
from probelet.beside.guard.restart.protocol.reason import CheckResult
from probelet.beside.guard.restart.state.observed_cluster import ObservedCluster
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.spec.rules.scaled import scaled


@dataclass(slots=True)
class Judgement:
    """The result of the checks for a pod with failed probes."""

    refused: list[tuple[ProbeState, CheckResult]] = field(default_factory=list)
    """The failed probes that lead to no restart now, in order; the pod's own refusal is that of its chosen one."""
    chosen: ProbeState | None = None
    """The probe whose container may be restarted now; None if every check refused."""

    busy: Hashable = None
    """The gate that opens when the pod's restart is over; None without one."""

    @property
    def gate(self) -> Hashable:
        """The gate of the refusal that counts for the pod."""
        return next((result.gate for _, result in self.refused if result.gate is not None), self.busy)

    @property
    def until_ns(self) -> int | None:
        """The first moment at which a refusal should be asked again."""
        return min((each.until_ns for _, each in self.refused if each.until_ns is not None), default=None)


def judge(cluster: ObservedCluster, uid: str, now: int, placed: Collection[BudgetKey] = ()) -> Judgement:
    """Judge a pod with at least one failed probe. ``placed``: the budgets that its restart has a place in already."""
    failed, judgement = cluster.failed(uid), Judgement()
    result = check_pod(cluster, uid)
    if result is not None:
        judgement.refused = [(state, result) for state in failed]
        return judgement
    pod, flight = cluster.pods[uid], cluster.flights.get(uid)
    if flight is not None:
        text = f"container {flight.container} of the pod is being restarted"
        # The failure that led to the restart needs no further decision.
        others = [state for state in failed if state.container != flight.container]
        judgement.refused = [(state, CheckResult("PodBusy", text)) for state in others]
        judgement.busy = ("pod", uid)
        return judgement
    for state in _in_order(pod, failed):
        result = check_state(cluster, pod, state, now) or check_switches(cluster, pod, state, now)
        if result is None and judgement.chosen is None:
            result = check_cluster(cluster, pod, state, now, placed)
            if result is None:
                judgement.chosen = state
                continue
            judgement.refused.append((state, result))
            # The other containers of the pod would get the same answer.
            break
        if result is None:
            assert judgement.chosen is not None
            result = CheckResult("PodBusy", f"container {judgement.chosen.container} of the pod goes first")
        judgement.refused.append((state, result))
    return judgement


def _in_order(pod: GuardedPod, failed: list[ProbeState]) -> list[ProbeState]:
    """The probe that has failed longest first, then in the order of the pod's containers (R-11)."""
    position = {container.name: index for index, container in enumerate(pod.containers)}
    return sorted(failed, key=lambda state: (state.since_ns, position.get(state.container, 0)))


def check_cluster(
    cluster: ObservedCluster, pod: GuardedPod, state: ProbeState, now: int, placed: Collection[BudgetKey]
) -> CheckResult | None:
    """Whether the pod's requests, its workload, node and budgets allow a restart (R-7 to R-B)."""
    for request in cluster.requests_of(pod.uid):
        if request.is_live:
            return CheckResult("PodBusy", f"ContainerRecreateRequest {request.name} is not completed", ("pod", pod.uid))
    workload = cluster.workloads.root(pod)
    return check_breakers(cluster, pod, state, workload, now) or _check_limits(cluster, pod, workload, now, placed)


def limit(cluster: ObservedCluster, workload: WorkloadKey) -> int:
    """How many pods of a workload may be restarted at the same time."""
    return max(1, scaled(cluster.config.max_in_flight, cluster.replicas(workload), default=0, up=True))


def _check_limits(
    cluster: ObservedCluster, pod: GuardedPod, workload: WorkloadKey, now: int, placed: Collection[BudgetKey]
) -> CheckResult | None:
    most, count = limit(cluster, workload), cluster.flights.count(workload)
    if count >= most:
        text = f"{count} of at most {most} pods of {workload} are being restarted"
        return CheckResult("WorkloadLimit", text, ("workload", workload))
    refusal = cluster.budgets.check(pod, workload, cluster, now, config=cluster.config, placed=placed)
    if refusal is None:
        return None
    return CheckResult(refusal.reason, refusal.message, ("budget", refusal.gate), now + AGAIN_NS)
