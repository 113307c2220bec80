"""Turns the runtime's statuses into the records of policy.

The runtime writes every field as it likes: a text is cut, and an address that is none is absent.
"""

import ipaddress
from collections.abc import Mapping
from typing import Final

from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, State
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels
from probelet.spec.text.duration import MILLISECOND

_STATES: Final[Mapping[int, State]] = {
    api_pb2.CONTAINER_CREATED: State.CREATED,
    api_pb2.CONTAINER_RUNNING: State.RUNNING,
    api_pb2.CONTAINER_EXITED: State.EXITED,
}

_LISTED_STATES: Final[Mapping[int, State]] = {
    api_pb2.CONTAINER_CREATED: State.CREATED,
    # A row has no exit code, and whether a container runs again depends on its exit code.
    api_pb2.CONTAINER_EXITED: State.ENDED,
}


NAME_CHARS_MAX: Final = 253
"""The longest name of a Kubernetes object; a reason is shorter."""

MESSAGE_CHARS_MAX: Final = 4096
"""The longest termination message of a kubelet (``MaxContainerTerminationMessageLength``, 1.36). A longer one keeps its
end, which in a message made from a log tells why the container ended."""


def state_of(state: int) -> State:
    """The state for a value of the runtime's enum; any value but the known three is UNKNOWN."""
    return _STATES.get(state, State.UNKNOWN)


def sandbox_record(status: api_pb2.PodSandboxStatus) -> SandboxRecord:
    """The record of a sandbox. Its address is None on the host's network, where it has none of its own, and if it is no
    address: then, as in the kubelet, the pod has none, and keeps its sandbox (determinePodSandboxIPs, 1.36)."""
    on_host = status.linux.namespaces.options.network == api_pb2.NODE
    has_address = _is_address(status.network.ip) or not (status.network.ip or on_host)
    return SandboxRecord(
        id=status.id,
        ready=status.state == api_pb2.SANDBOX_READY,
        attempt=status.metadata.attempt,
        ip=status.network.ip if has_address else None,
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
        name=_name(status),
        state=state,
        restart_count=labels.restart_count(status.annotations),
        created_at_ns=status.created_at,
        started_at_ms=max(0, status.started_at) // MILLISECOND,
        finished_at_ms=max(0, status.finished_at) // MILLISECOND,
        finished_ns=finished_ns,
        exit_code=status.exit_code,
        reason=status.reason[:NAME_CHARS_MAX],
        message=status.message[-MESSAGE_CHARS_MAX:],
        definition=_definition(status),
        sandbox_id=sandbox_id,
    )


def listed_sandbox(row: api_pb2.PodSandbox) -> SandboxRecord:
    """The record of a sandbox on which the runtime does not report: its address is unknown."""
    ready = row.state == api_pb2.SANDBOX_READY
    return SandboxRecord(row.id, ready, row.metadata.attempt, ip=None, created_at_ns=row.created_at)


def listed_container(row: api_pb2.Container, id: str) -> ContainerRecord:
    """The record of the container ``id`` (``type://id``) on which the runtime does not report. It counts as running
    unless the list has it as created or exited: while it may run, no second one may start."""
    return ContainerRecord(
        id=id,
        name=_name(row),
        state=_LISTED_STATES.get(row.state, State.RUNNING),
        restart_count=labels.restart_count(row.annotations),
        created_at_ns=row.created_at,
        definition=_definition(row),
        sandbox_id=row.pod_sandbox_id,
    )


def _name(known: api_pb2.Container | api_pb2.ContainerStatus) -> str:
    return known.labels.get(labels.CONTAINER_NAME, known.metadata.name)[:NAME_CHARS_MAX]


def _definition(known: api_pb2.Container | api_pb2.ContainerStatus) -> str:
    return known.annotations.get(labels.HASH, "")[:NAME_CHARS_MAX]


def _is_address(text: str) -> bool:
    # A zone may hold any character, so an address with one is none here.
    if "%" in text:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
