"""One step of carrying requests for a pod out: which request, what its status becomes, and which container to kill.

Source: kruise 1.9.0 pkg/daemon/containerrecreate/crr_daemon_controller.go.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from probelet.beside.guard.objects.recreate_request import (
    COMPLETED,
    FAILED,
    PENDING,
    RECREATING,
    SUCCEEDED,
    RecreateRequest,
    RecreateState,
)
from probelet.beside.guard.recreate import messages
from probelet.beside.guard.recreate.progress import ORDER, Progress, given_up
from probelet.beside.guard.recreate.situation import ObservedPod, is_another, situations, up_ms
from probelet.spec.text.duration import MILLISECOND, SECOND


class Step(msgspec.Struct, frozen=True):
    """The next step: the status, a container to kill, and when to look again without news (nanoseconds)."""

    progress: Progress
    kill: str = ""
    again_ns: int | None = None


def pick(requests: Iterable[tuple[RecreateRequest, Progress]]) -> tuple[RecreateRequest | None, list[RecreateRequest]]:
    """The request of a pod that is carried out now, and the others that get the phase Pending: they wait for it."""
    live = [(request, progress) for request, progress in requests if _is_live(request, progress)]
    live.sort(key=lambda each: (ORDER.index(_known(each[1].phase)), each[0].created_ns, each[0].name))
    if not live:
        return None, []
    return live[0][0], [request for request, progress in live[1:] if not progress.phase]


def _is_live(request: RecreateRequest, progress: Progress) -> bool:
    return not (request.is_deleting or request.is_completed or progress.is_completed)


def _known(phase: str) -> str:
    return phase if phase in ORDER else ""


def execute(request: RecreateRequest, progress: Progress, pod: ObservedPod) -> Step:
    """The next step of the request that was picked. Its pod is on this node and does not terminate; the manager
    completes a request whose pod has gone."""
    deadline = request.active_deadline_seconds
    if deadline is not None and pod.seen_ns >= deadline * SECOND:
        # The manager says so too; without one the request would stay, and keep others for its pod waiting.
        return _completed(given_up(situations(request, progress, pod)), messages.DEADLINE)
    if progress.phase != RECREATING:
        return Step(Progress(RECREATING, progress.states))
    grace = request.strategy.unready_grace_period_seconds
    if grace is not None and not progress.states:
        if pod.drained_ns is None:
            return Step(progress, again_ns=_until_deadline(request, pod))
        if pod.drained_ns < grace * SECOND:
            return Step(progress, again_ns=grace * SECOND - pod.drained_ns)
    if why := runtime_problem(request, pod.runtime):
        return _completed(progress.states, messages.no_runtime(why))
    return _went_on(request, progress, pod)


def _went_on(request: RecreateRequest, progress: Progress, pod: ObservedPod) -> Step:
    states = [_with_failure(each, pod) for each in situations(request, progress, pod)]
    ignores, kill = request.strategy.failure_policy == "Ignore", ""
    for index, state in enumerate(states):
        if state.phase == FAILED and not ignores:
            return _completed(tuple(states), "")
        if state.phase in (FAILED, SUCCEEDED):
            continue
        if state.phase == RECREATING:
            states[index] = replace(state, is_killed=True)
            if request.strategy.ordered_recreate:
                break
            continue
        if state.name in pod.instances and pod.may_begin and not _is_killing(request, pod):
            kill = state.name
            states[index] = replace(state, phase=RECREATING, is_killed=True)
        break
    if all(each.phase in (FAILED, SUCCEEDED) for each in states):
        return _completed(tuple(states), "")
    return Step(Progress(RECREATING, tuple(states)), kill, _again_ns(request, pod))


def _with_failure(state: RecreateState, pod: ObservedPod) -> RecreateState:
    error = pod.failures.get(state.name)
    if error is None or state.phase in (FAILED, SUCCEEDED):
        return state
    return replace(state, phase=FAILED, message=messages.kill_error(error))


def _is_killing(request: RecreateRequest, pod: ObservedPod) -> bool:
    """Kills of a request follow one another, also without ``orderedRecreate``."""
    found = (pod.instances.get(each.name) for each in request.containers)
    return any(instance is not None and instance.id in pod.killing for instance in found)


def _completed(states: tuple[RecreateState, ...], message: str) -> Step:
    return Step(Progress(COMPLETED, states, message))


def _until_deadline(request: RecreateRequest, pod: ObservedPod) -> int | None:
    deadline = request.active_deadline_seconds
    return None if deadline is None else max(0, deadline * SECOND - pod.seen_ns)


def _again_ns(request: RecreateRequest, pod: ObservedPod) -> int | None:
    """When something follows from the time alone: a container has run long enough, or the deadline is over."""
    waits = []
    for each in request.containers:
        instance = pod.instances.get(each.name)
        if instance is not None and instance.state == "running" and is_another(each, instance):
            left_ms = up_ms(request, instance) + 1 - pod.wall_ms
            waits += [left_ms * MILLISECOND] if left_ms > 0 else []
    deadline = _until_deadline(request, pod)
    return min([*waits, *([] if deadline is None else [deadline])], default=None)


def runtime_problem(request: RecreateRequest, runtime: str) -> str:
    """Why the containers of a request are not this node's runtime's; empty if they are."""
    found = ""
    for each in request.containers:
        if each.status_context is None or not each.status_context.container_id:
            return f"no statusContext or empty containerID in {each.name} container"
        id = each.status_context.container_id
        type, separator, rest = id.partition("://")
        if not separator or not rest:
            return f'failed to parse containerID {id} in {each.name} container: invalid container ID: "{id}"'
        if found and found != type:
            return f"has different runtime types {found}, {type} in Pod"
        found = type
    if not found:
        return "no runtime type found in Pod"
    return "" if found == runtime else f"not found runtime service for {found} in daemon"


def waiting(progress: Progress) -> Progress:
    """The progress of a request that waits for another one of its pod."""
    return Progress(PENDING, progress.states)
