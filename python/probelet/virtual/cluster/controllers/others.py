"""The other workloads: ReplicaSets and ReplicationControllers, StatefulSets, DaemonSets, and pods that nobody keeps."""

from probelet.spec.rules.scaled import scaled
from probelet.virtual.cluster.controllers.workload import Actions, Version, Workload, fewest_lost_first


def reconcile_replicas(workload: Workload, actions: Actions) -> None:
    """Makes as many pods as wanted; a new template counts for new pods only."""
    active = workload.active()
    for _ in range(workload.wanted - len(active)):
        workload.created += 1
        name = f"{workload.current.template.metadata.name}-{workload.created - 1}"
        actions.create(workload, workload.current, name, None)
    for pod in fewest_lost_first(active)[: max(0, len(active) - workload.wanted)]:
        actions.delete(pod)


def reconcile_unkept(workload: Workload, actions: Actions) -> None:
    """One pod, made once."""
    if not workload.created:
        workload.created = 1
        actions.create(workload, workload.current, workload.current.template.metadata.name, None)


def reconcile_stateful(workload: Workload, actions: Actions) -> int | None:
    """A StatefulSet (pkg/controller/statefulset/stateful_set_control.go, 1.36): pods in the order of their ordinals,
    each after the one before is available, unless ``podManagementPolicy`` is Parallel; updates from the highest ordinal
    down to ``partition``, one at a time. Volumes are not modelled."""
    now, strategy = actions.now, workload.spec.update_strategy
    is_ordered = workload.spec.pod_management_policy != "Parallel"
    prefix = f"{workload.current.template.metadata.name}-"
    pods = {int(pod.name.removeprefix(prefix)): pod for pod in workload.pods.values()}
    look = workload.next_available(now)
    for ordinal in range(workload.wanted):
        pod = pods.get(ordinal)
        if pod is None:
            workload.created += 1
            actions.create(workload, _version(workload, ordinal), f"{prefix}{ordinal}", None)
        if is_ordered and (pod is None or pod.is_terminating or not workload.is_available(pod, now)):
            return look
    for ordinal in sorted(pods, reverse=True):
        if ordinal >= workload.wanted and not pods[ordinal].is_terminating:
            actions.delete(pods[ordinal])
            if is_ordered:
                return look
    if strategy.type == "OnDelete":
        return look
    for ordinal in sorted(pods, reverse=True):
        pod = pods[ordinal]
        if ordinal < strategy.rolling_update.partition or ordinal >= workload.wanted:
            continue
        if pod.version != workload.current.number and not pod.is_terminating:
            actions.delete(pod)
            return look
        if pod.is_terminating or not workload.is_available(pod, now):
            return look
    return look


def _version(workload: Workload, ordinal: int) -> Version:
    """The version of a pod that is made anew: an ordinal below ``partition`` keeps the one before."""
    if ordinal < workload.spec.update_strategy.rolling_update.partition and len(workload.versions) > 1:
        return workload.versions[-2]
    return workload.current


def reconcile_daemons(workload: Workload, actions: Actions) -> int | None:
    """A DaemonSet (pkg/controller/daemon/update.go, 1.36): one pod on each node; an update deletes old pods while at
    most ``maxUnavailable`` (default 1) nodes are without an available one. ``maxSurge`` is not modelled."""
    now, strategy = actions.now, workload.spec.update_strategy
    on_node = {pod.node: pod for pod in workload.pods.values()}
    for node in actions.nodes:
        if node not in on_node:
            workload.created += 1
            actions.create(workload, workload.current, f"{workload.current.template.metadata.name}-{node}", node)
    most = scaled(strategy.rolling_update.max_unavailable, len(actions.nodes), default=1, up=True)
    unavailable = len(actions.nodes) - workload.available(workload.active(), now)
    old = [pod for pod in workload.active() if pod.version != workload.current.number]
    if strategy.type != "OnDelete":
        for pod in sorted(old, key=lambda pod: workload.is_available(pod, now)):
            if workload.is_available(pod, now):
                if unavailable >= max(most, 1):
                    break
                unavailable += 1
            actions.delete(pod)
    return workload.next_available(now)
