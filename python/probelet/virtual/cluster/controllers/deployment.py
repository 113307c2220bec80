"""A Deployment's rollout (pkg/controller/deployment, 1.36): rolling.go, recreate.go, progress.go."""

from typing import Final

from probelet.spec.rules.scaled import scaled
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.controllers.workload import Actions, Workload, fewest_lost_first
from probelet.virtual.cluster.node.pod import ClusterPod

PROGRESS_DEADLINE_SECONDS: Final = 600
"""``progressDeadlineSeconds`` if the manifest has none (apps/v1/defaults.go, 1.36)."""


def reconcile(workload: Workload, actions: Actions) -> int | None:
    """Create and delete what the strategy allows now; returns when to look again without a change, None for never."""
    if not workload.spec.paused:
        if workload.spec.strategy.type == "Recreate":
            _recreate(workload, actions)
        else:
            _roll(workload, actions)
    moments = [workload.next_available(actions.now), _progress(workload, actions)]
    return min((moment for moment in moments if moment is not None), default=None)


def _split(workload: Workload) -> tuple[list[ClusterPod], list[ClusterPod]]:
    """The active pods of the newest version, and the others."""
    active, number = workload.active(), workload.current.number
    return [pod for pod in active if pod.version == number], [pod for pod in active if pod.version != number]


def _create(workload: Workload, actions: Actions, count: int) -> None:
    for _ in range(count):
        workload.created += 1
        name = f"{workload.current.template.metadata.name}-v{workload.current.number}-{workload.created - 1}"
        actions.create(workload, workload.current, name, None)


def _recreate(workload: Workload, actions: Actions) -> None:
    """Nothing new begins before everything old is gone."""
    new, old = _split(workload)
    for pod in old:
        actions.delete(pod)
    if any(pod.version != workload.current.number for pod in workload.pods.values()):
        return
    _fit(workload, actions, new)


def _fit(workload: Workload, actions: Actions, new: list[ClusterPod]) -> None:
    _create(workload, actions, workload.wanted - len(new))
    for pod in fewest_lost_first(new)[: max(0, len(new) - workload.wanted)]:
        actions.delete(pod)


def _roll(workload: Workload, actions: Actions) -> None:
    wanted, rolling = workload.wanted, workload.spec.strategy.rolling_update
    surge = scaled(rolling.max_surge, wanted, default="25%", up=True)
    missing = scaled(rolling.max_unavailable, wanted, default="25%", up=False)
    if surge == missing == 0:
        # ResolveFenceposts: a percentage that comes to nothing must not stop the rollout.
        missing = 1
    new, old = _split(workload)
    if len(new) > wanted:
        _fit(workload, actions, new)
    else:
        _create(workload, actions, min(wanted - len(new), max(0, wanted + surge - len(new) - len(old))))
    new, old = _split(workload)
    least, now = wanted - missing, actions.now
    room = len(new) + len(old) - least - (len(new) - workload.available(new, now))
    if not old or room <= 0:
        return
    # Old pods that serve nobody go first; the rest as far as enough pods are available without them.
    broken = [pod for pod in old if not workload.is_available(pod, now)][:room]
    for pod in broken:
        actions.delete(pod)
    new, old = _split(workload)
    spare = workload.available(new + old, now) - least
    for pod in fewest_lost_first([pod for pod in old if workload.is_available(pod, now)])[: max(0, spare)]:
        actions.delete(pod)


def _progress(workload: Workload, actions: Actions) -> int | None:
    """Note progress, or that there was none for too long; returns when it will have been too long."""
    new, old = _split(workload)
    now, seconds = actions.now, workload.spec.progress_deadline_seconds
    available = workload.available(new, now)
    reached = (len(new), sum(pod.is_ready for pod in new), available, -len(old))
    # One more of one of these is progress (deployment_util.go:DeploymentProgressing).
    if not workload.progress or any(a > b for a, b in zip(reached, workload.progress, strict=True)):
        workload.progress_ns = now
    workload.progress = reached
    if available >= workload.wanted and not old:
        workload.is_overdue = False
        return None
    due = workload.progress_ns + (PROGRESS_DEADLINE_SECONDS if seconds is None else seconds) * SECOND
    if workload.is_overdue or now < due:
        return None if workload.is_overdue else due
    workload.is_overdue = True
    name = f"{workload.current.template.metadata.name}-v{workload.current.number}"
    actions.event(workload, "ProgressDeadlineExceeded", f'ReplicaSet "{name}" has timed out progressing.')
    return None
