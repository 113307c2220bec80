"""Turns the runtime's statuses into the records of policy."""

from collections.abc import Mapping
from typing import Final

from probelet.cri.v1 import api_pb2
from probelet.node.runtime import labels
from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, State

_STATES: Final[Mapping[int, State]] = {
    api_pb2.CONTAINER_CREATED: State.CREATED,
    api_pb2.CONTAINER_RUNNING: State.RUNNING,
    api_pb2.CONTAINER_EXITED: State.EXITED,
}

_NS_PER_MS: Final = 1_000_000


def state_of(state: int) -> State:
    """The state for a value of the runtime's enum; any value but the known three is UNKNOWN."""
    return _STATES.get(state, State.UNKNOWN)


def sandbox_record(status: api_pb2.PodSandboxStatus) -> SandboxRecord:
    """The record of a sandbox. Its address is None on the host's network, where it has none of its own."""
    on_host = status.linux.namespaces.options.network == api_pb2.NODE
    return SandboxRecord(
        id=status.id,
        ready=status.state == api_pb2.SANDBOX_READY,
        attempt=status.metadata.attempt,
        ip=None if on_host and not status.network.ip else status.network.ip,
        created_at_ns=status.created_at,
    )


def container_record(
    status: api_pb2.ContainerStatus, *, runtime: str, sandbox_id: str, now_ns: int, wall_ns: int
) -> ContainerRecord:
    """The record of a container instance. ``runtime`` is the type in ``type://id``.

    ``now_ns`` and ``wall_ns`` are one moment on the engine's clock and on the wall clock. The time of the exit is moved
    to the engine's clock here, once, so that setting the wall clock later moves no back-off. An exit in the future
    counts as now. An exit at an unknown time, or before the engine's clock began, counts as the clock's beginning.
    """
    state = state_of(status.state)
    finished_ns = None
    if state is State.EXITED:
        finished_ns = max(0, now_ns - max(0, wall_ns - status.finished_at)) if status.finished_at > 0 else 0
    return ContainerRecord(
        id=f"{runtime}://{status.id}",
        name=status.labels.get(labels.CONTAINER_NAME, status.metadata.name),
        state=state,
        restart_count=labels.restart_count(status.annotations),
        created_at_ns=status.created_at,
        started_at_ms=max(0, status.started_at) // _NS_PER_MS,
        finished_at_ms=max(0, status.finished_at) // _NS_PER_MS,
        finished_ns=finished_ns,
        exit_code=status.exit_code,
        reason=status.reason,
        message=status.message,
        definition=status.annotations.get(labels.HASH, ""),
        sandbox_id=sandbox_id,
    )
