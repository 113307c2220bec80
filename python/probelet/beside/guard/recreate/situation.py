"""The phase of each container of a request (kruise 1.9.0 pkg/daemon/containerrecreate/crr_daemon_util.go).

| container | phase |
|---|---|
| Succeeded or Failed before | stays |
| not on the node | Pending, "not found container on Node" |
| exited, or being killed | Recreating |
| forceRecreate and not yet killed | Pending: it is killed, even if it is a new one |
| another one than the request means, or restarted since | Recreating; Succeeded once the kubelet finds it ready |
| else | Pending |

Where this differs: an instance that is just being killed counts as Recreating, and no clock of the API server is
compared with the node's (C-3).
"""

from collections.abc import Mapping, Set
from typing import Final, Literal

import msgspec

from probelet.beside.guard.objects.recreate_request import (
    ENDED,
    PENDING,
    RECREATING,
    SUCCEEDED,
    RecreateRequest,
    RecreateState,
    WantedContainer,
)
from probelet.beside.guard.recreate.messages import NOT_FOUND
from probelet.beside.guard.recreate.progress import Progress

MS_PER_SECOND: Final = 1000


class Instance(msgspec.Struct, frozen=True):
    """The newest instance of a container, by the runtime. ``id`` is ``type://id``."""

    id: str
    state: Literal["created", "running", "exited", "unknown"] = "running"
    restart_count: int = 0
    started_ms: int = 0
    """Unix milliseconds, by the node's clock."""


class ObservedPod(msgspec.Struct, frozen=True):
    """The executor's knowledge of a request's pod at one moment.

    ``killing``: the instances that are being killed, for whatever reason.
    ``killed``: the instance of each container that was killed for this request, from before its first step.
    ``failures``: kills for this request that failed, with the error, by container.
    ``seen_ns``: how long the executor has known the request.
    ``drained_ns``: how long it has known that the pod is out of service; None: it is not.
    ``wall_ms``: the node's wall clock.
    ``runtime``: the type in ``type://id`` of this node's runtime.
    ``may_begin``: the API server answers, so what begins now can be written down.
    """

    instances: Mapping[str, Instance] = msgspec.field(default_factory=dict)
    killing: Set[str] = frozenset()
    killed: Mapping[str, str] = msgspec.field(default_factory=dict)
    failures: Mapping[str, str] = msgspec.field(default_factory=dict)
    seen_ns: int = 0
    drained_ns: int | None = None
    wall_ms: int = 0
    runtime: str = "containerd"
    may_begin: bool = True


def situations(request: RecreateRequest, before: Progress, pod: ObservedPod) -> tuple[RecreateState, ...]:
    """The states of all containers of a request, in its order."""
    return tuple(_situation(request, each, before.state(each.name), pod) for each in request.containers)


def _situation(
    request: RecreateRequest, wanted: WantedContainer, before: RecreateState | None, pod: ObservedPod
) -> RecreateState:
    if before is not None and before.phase in ENDED:
        return before
    name, instance = wanted.name, pod.instances.get(wanted.name)
    is_killed = before is not None and before.is_killed
    if instance is None:
        return RecreateState(name=name, phase=PENDING, message=NOT_FOUND, is_killed=is_killed)
    if instance.state == "exited":
        return RecreateState(name=name, phase=RECREATING, is_killed=is_killed)
    if instance.id in pod.killing:
        return RecreateState(name=name, phase=RECREATING, is_killed=True)
    if request.strategy.force_recreate and not _was_killed(name, instance, pod, is_killed=is_killed):
        return RecreateState(name=name, phase=PENDING)
    if is_another(wanted, instance):
        phase = SUCCEEDED if _is_up(request, name, instance, pod) else RECREATING
        return RecreateState(name=name, phase=phase, is_killed=is_killed)
    return RecreateState(name=name, phase=PENDING, is_killed=is_killed)


def is_another(wanted: WantedContainer, instance: Instance) -> bool:
    """Whether an instance is not the one that the request means."""
    meant = wanted.status_context
    if meant is None:
        return False
    return instance.id != meant.container_id or instance.restart_count > meant.restart_count


def up_ms(request: RecreateRequest, instance: Instance) -> int:
    """When an instance has run long enough, in Unix milliseconds of the node's clock."""
    return instance.started_ms + request.strategy.min_started_seconds * MS_PER_SECOND


def _was_killed(name: str, instance: Instance, pod: ObservedPod, *, is_killed: bool) -> bool:
    """Whether the one kill of a forced request is behind us. The executor's own note goes first: it was written before
    the kill, and an instance that it names and that still runs has not been killed."""
    noted = pod.killed.get(name)
    return is_killed if noted is None else noted != instance.id


def _is_up(request: RecreateRequest, name: str, instance: Instance, pod: ObservedPod) -> bool:
    seen = next((each for each in request.snapshot if each.name == name), None)
    is_ready = seen is not None and seen.container_id == instance.id and seen.ready
    return is_ready and pod.wall_ms > up_ms(request, instance)
