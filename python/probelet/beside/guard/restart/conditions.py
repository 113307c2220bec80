"""The checks of one failed probe, each by itself: does the failure mean the container that runs now (R-2 to R-6)?"""

from probelet.beside.guard.objects.node_probes import ProbeState
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.reason import REASONS, CheckResult, Reason
from probelet.beside.guard.restart.settings.config import Exclusion
from probelet.beside.guard.restart.state.cluster_state import ClusterState
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.spec.text.duration import SECOND

SLACK_NS = 60 * SECOND
"""How much the clocks of a node and of the controller may differ (R-4)."""


def check_pod(cluster: ClusterState, uid: str) -> CheckResult | None:
    """Whether the pod of a failed probe is still the one that asked for it (R-2, R-3, F-6)."""
    pod, (node, _) = cluster.pods.get(uid), cluster.entries[uid]
    if pod is None or not pod.is_active or pod.node != node or pod.restart_policy != "Always":
        return _result("PodGone")
    if not pod.is_opted_in:
        return _result("OptedOut")
    found = cluster.nodes.get(node)
    if found is None or not found.is_ready:
        return _result("NodeNotReady", f"node {node} is not ready, so nobody would start the container again")
    return None


def check_state(cluster: ClusterState, pod: GuardedPod, state: ProbeState, now: int) -> CheckResult | None:
    """Whether the result is fresh and means the running instance of the container (R-4, R-5)."""
    age = cluster.wall(now) - state.probed_ns
    longest = cluster.config.stale_after_ns or _longest(cluster, state)
    if age > longest:
        text = f"the node last published it {age // SECOND} s ago; more than {longest // SECOND} s is too long"
        return _result("Stale", text)
    container = pod.container(state.container)
    if container is None or container.started_ns is None or not container.container_id:
        return _result("NotRunning")
    # Both are times of the node.
    if state.since_ns < container.started_ns:
        return _result("OldInstance")
    completed = [
        each.completed_ns
        for each in cluster.requests_of(pod.uid)
        if each.is_ours and each.completed_ns is not None and each.container != state.container
    ]
    if completed and state.probed_ns <= max(completed):
        return _result("Reevaluating")
    return None


def _longest(cluster: ClusterState, state: ProbeState) -> int:
    probes = (3 * state.period_seconds + state.timeout_seconds) * SECOND
    return max(probes, cluster.options.heartbeat_ns) + SLACK_NS


def check_switches(cluster: ClusterState, pod: GuardedPod, state: ProbeState, now: int) -> CheckResult | None:
    """Whether the configuration and the container's past allow a restart (R-6)."""
    config, key = cluster.config, f"{pod.uid}/{state.container}"
    if not config.enabled:
        return _result("SwitchedOff")
    workload = cluster.workloads.root(pod)
    for index, exclusion in enumerate(config.blacklist):
        if excludes(exclusion, pod, workload):
            return _result("Blacklisted", f"blacklist[{index}] of the configuration excludes the pod")
    waits = cluster.history.due(key, now)
    if waits is not None:
        text = f"restarted or tried not long ago: the delay is {waits[1] // SECOND} s"
        return _result("Backoff", text, until_ns=waits[0])
    cap = cluster.history.cap_due(key, now, config.max_restarts_per_hour)
    if cap is not None:
        return _result("HourlyCap", f"restarted {config.max_restarts_per_hour} times within an hour", until_ns=cap)
    return None


def excludes(exclusion: Exclusion, pod: GuardedPod, workload: WorkloadKey) -> bool:
    """Whether every field of an exclusion that is set matches the pod; one without fields matches none."""
    pairs = (
        (exclusion.namespace, pod.namespace),
        (exclusion.workload_kind, workload.kind),
        (exclusion.workload_name, workload.name),
        (exclusion.pod, pod.name),
        (exclusion.node, pod.node),
    )
    selector = exclusion.label_selector
    if not any(wanted for wanted, _ in pairs) and selector is None:
        return False
    return all(wanted in ("", found) for wanted, found in pairs) and (selector is None or selector.matches(pod.labels))


def _result(reason: Reason, message: str = "", *, until_ns: int | None = None) -> CheckResult:
    return CheckResult(reason, message or REASONS[reason], until_ns=until_ns)
