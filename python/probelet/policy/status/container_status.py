"""The statuses of a pod's containers, made from a snapshot.

Kubelet pkg/kubelet/kubelet_pods.go:convertToAPIContainerStatuses, 1.36, reduced to what the prober, the phase and
the status document read.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from probelet.policy import messages
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.rules.kind import Kind, containers
from probelet.policy.rules.restart import should_start
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

LOST_EXIT_CODE: Final = 137
"""The exit code of a container whose end was not observed."""

StateName = Literal["waiting", "running", "terminated"]


class StartError(msgspec.Struct, frozen=True):
    """Why the last start of a container did not happen: the waiting reason and message (kubelet ``reasonCache``)."""

    reason: str
    message: str


class LastExit(msgspec.Struct, frozen=True):
    """The container's last termination state. ``at_ms`` is Unix milliseconds, 0 when unknown."""

    at_ms: int
    exit_code: int
    reason: str
    message: str = ""


class ContainerStatus(msgspec.Struct, frozen=True):
    """One container as the API would show it. ``exit_code`` is None unless it is terminated."""

    name: str
    kind: Kind
    container_id: str = ""
    state: StateName = "waiting"
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    started_at_ms: int = 0
    finished_at_ms: int = 0
    restart_count: int = 0
    last_exit: LastExit | None = None


def container_statuses(
    pod: Pod,
    snapshot: Snapshot,
    start_errors: Mapping[str, StartError],
    previous: Mapping[str, ContainerStatus],
    *,
    restarting_all: bool = False,
) -> dict[str, ContainerStatus]:
    """Name -> status, init containers first.

    A container that exited and could not be started again is waiting with the *old* id, its exit becoming the last
    one. A container that the runtime has forgotten keeps its known past. ``restarting_all``: all containers get
    removed to start again.
    """
    return {
        container.name: _status(pod, snapshot, kind, container, start_errors, previous, restarting_all)
        for kind, container in containers(pod)
    }


def _status(
    pod: Pod,
    snapshot: Snapshot,
    kind: Kind,
    container: Container,
    start_errors: Mapping[str, StartError],
    previous: Mapping[str, ContainerStatus],
    restarting_all: bool,
) -> ContainerStatus:
    name, known = container.name, previous.get(container.name)
    record = snapshot.newest(name)
    if record is not None:
        status = _of_record(record, kind, _last_exit(snapshot, record, known))
        if kind != "regular" and record.state is State.EXITED and record.exit_code == 0:
            # An init container that succeeded never shows as waiting, not even a sidecar in back-off.
            return status
    elif restarting_all and known is not None and known.state != "waiting":
        status = _removed_for_restart(known)
    else:
        status = _forgotten(pod, name, kind, known)
        if kind == "init" and status.state == "waiting" and _regular_created(pod, snapshot):
            return replace(
                status,
                state="terminated",
                reason="Completed",
                message=messages.INIT_CONTAINER_FORGOTTEN,
                exit_code=0,
            )
    error = start_errors.get(name)
    return _waiting(status, error) if error is not None and should_start(pod, container, snapshot) else status


def _of_record(record: ContainerRecord, kind: Kind, last: LastExit | None) -> ContainerStatus:
    status = ContainerStatus(
        name=record.name,
        kind=kind,
        container_id=record.id,
        restart_count=record.restart_count,
        started_at_ms=record.started_at_ms,
        last_exit=last,
    )
    if record.state is State.RUNNING:
        return replace(status, state="running")
    if record.state is State.ENDED:
        return replace(status, reason=messages.CONTAINER_STATUS_UNKNOWN, message=messages.EXIT_UNKNOWN)
    if record.state is State.EXITED:
        return replace(
            status,
            state="terminated",
            reason=record.reason,
            message=record.message,
            exit_code=record.exit_code,
            finished_at_ms=record.finished_at_ms,
        )
    return status


def _last_exit(snapshot: Snapshot, newest: ContainerRecord, known: ContainerStatus | None) -> LastExit | None:
    """The exit before this instance: from the runtime, else from the previous status."""
    for record in snapshot.containers:
        if record.name == newest.name and record.id != newest.id and record.state is State.EXITED:
            return LastExit(record.finished_at_ms, record.exit_code, record.reason, record.message)
    if known is None:
        return None
    return (_exit_of(known) if known.container_id != newest.id else None) or known.last_exit


def _exit_of(status: ContainerStatus) -> LastExit | None:
    if status.exit_code is None:
        return None
    return LastExit(status.finished_at_ms, status.exit_code, status.reason, status.message)


def _forgotten(pod: Pod, name: str, kind: Kind, known: ContainerStatus | None) -> ContainerStatus:
    creating = messages.POD_INITIALIZING if pod.spec.init_containers else messages.CONTAINER_CREATING
    if known is None:
        return ContainerStatus(name, kind, reason=creating)
    if known.state == "terminated":
        return known
    count, last = known.restart_count, known.last_exit
    if known.state == "running" and last is None:
        # It must have ended unobserved. Without this exit the pod would look as if it had never run.
        count, last = count + 1, LastExit(0, LOST_EXIT_CODE, messages.CONTAINER_STATUS_UNKNOWN)
    return ContainerStatus(name, kind, reason=creating, restart_count=count, last_exit=last)


def _removed_for_restart(known: ContainerStatus) -> ContainerStatus:
    return ContainerStatus(
        known.name,
        known.kind,
        container_id=known.container_id if known.state == "terminated" else "",
        reason=messages.RESTARTING_ALL_CONTAINERS,
        message=messages.REMOVED_FOR_RESTART,
        restart_count=known.restart_count + 1,
        last_exit=LastExit(known.finished_at_ms, LOST_EXIT_CODE, messages.RESTARTING_ALL_CONTAINERS),
    )


def _regular_created(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether a regular container has been created, so that every init container must have done its work."""
    newest = (snapshot.newest(container.name) for container in pod.spec.containers)
    return any(record is not None and record.state is not State.UNKNOWN for record in newest)


def _waiting(status: ContainerStatus, error: StartError) -> ContainerStatus:
    last = _exit_of(status) or status.last_exit
    return replace(status, state="waiting", reason=error.reason, message=error.message, exit_code=None, last_exit=last)
