"""The phase of a pod (kubelet pkg/kubelet/kubelet_pods.go:getPhase, 1.36)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from probelet.policy import messages
from probelet.policy.rules.kind import is_sidecar
from probelet.policy.rules.restart import restart_spec
from probelet.policy.status.container_status import ContainerStatus
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod, PodPhase


@dataclass(slots=True)
class _Tally:
    """How many containers are in which state; the names are getPhase's."""

    pending_init: int = 0
    pending_sidecars: int = 0
    failed_init: int = 0
    unknown: int = 0
    running: int = 0
    waiting: int = 0
    stopped: int = 0
    stopped_for_good: int = 0
    succeeded: int = 0


def pod_phase(
    pod: Pod,
    statuses: Mapping[str, ContainerStatus],
    *,
    terminal: bool,
    initialized: bool,
    started: Collection[str],
) -> PodPhase:
    """The phase.

    ``terminal``: the pod ends, so its restart policy no longer counts. ``initialized``: a regular container has been
    created in this sandbox, so a restarting sidecar does not put the pod back to Pending. ``started``: the containers
    whose last status had ``started: true``; only a sidecar's entry changes the phase.
    """
    tally = _Tally()
    for container in pod.spec.init_containers:
        if is_sidecar(container):
            _count_sidecar(tally, statuses.get(container.name), started)
        else:
            _count_init(tally, pod, container, statuses.get(container.name))
    for container in pod.spec.containers:
        _count_regular(tally, pod, container, statuses.get(container.name))
    if tally.failed_init:
        return "Failed"
    if tally.pending_init or (tally.pending_sidecars and not initialized) or tally.waiting:
        return "Pending"
    if tally.running and not tally.unknown:
        return "Running"
    if tally.stopped and not tally.unknown:
        if not terminal and tally.stopped != tally.stopped_for_good:
            return "Running"
        return "Succeeded" if tally.stopped == tally.succeeded else "Failed"
    return "Pending"


def _exit_code(status: ContainerStatus) -> int | None:
    """The exit that counts: the container's own, or while it waits to start again the last one."""
    if status.state == "terminated":
        return status.exit_code
    return status.last_exit.exit_code if status.state == "waiting" and status.last_exit else None


def _restarts(pod: Pod, container: Container, status: ContainerStatus, code: int) -> bool:
    """Whether the container runs again. After a restart of all containers it does, whatever its policy."""
    reason = status.reason if status.state == "terminated" else status.last_exit.reason if status.last_exit else ""
    return reason == messages.RESTARTING_ALL_CONTAINERS or restart_spec(pod, container).after_exit(code)


def _count_init(tally: _Tally, pod: Pod, container: Container, status: ContainerStatus | None) -> None:
    code = None if status is None else _exit_code(status)
    if status is None or code is None:
        tally.pending_init += 1
    elif code != 0 and not _restarts(pod, container, status, code):
        tally.failed_init += 1


def _count_sidecar(tally: _Tally, status: ContainerStatus | None, started: Collection[str]) -> None:
    if status is None:
        tally.unknown += 1
    elif status.state == "running":
        tally.running += 1
        tally.pending_sidecars += status.name not in started
    elif _exit_code(status) is None:
        tally.pending_sidecars += 1
        tally.waiting += 1
    # A sidecar that has ended does not count: only regular containers decide whether a pod succeeded.


def _count_regular(tally: _Tally, pod: Pod, container: Container, status: ContainerStatus | None) -> None:
    if status is None:
        tally.unknown += 1
        return
    if status.state == "running":
        tally.running += 1
        return
    code = _exit_code(status)
    if code is None:
        tally.waiting += 1
        return
    tally.stopped += 1
    tally.stopped_for_good += not _restarts(pod, container, status, code)
    # For the phase, a container that waits to start again has failed, whatever its exit.
    tally.succeeded += status.state == "terminated" and code == 0
