"""Lifecycle hooks, run by the handlers of pkg/kubelet/lifecycle/handlers.go (1.36).

Their commands run as the manifest has them: only a container's own command and args have ``$(VAR)`` expanded.
"""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from probelet.policy import messages
from probelet.policy.protocol.effects import HookName, RunHook
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.strand import Strand, Strands, Turn, call, sleep_until
from probelet.spec.model.container import Container, LifecycleHandler
from probelet.spec.text.duration import SECOND


class Hook(msgspec.Struct, frozen=True):
    """One hook of one container instance; ``limit_seconds`` as in ``RunHook``."""

    container: Container
    container_id: str
    name: HookName
    handler: LifecycleHandler
    limit_seconds: int | None = None


def run_hook(context: PodContext, hook: Hook) -> Strand[str]:
    """Run a hook to its end; returns the waiting message of a failure, "" if it succeeded."""
    handler, container = hook.handler, hook.container.name
    if handler.exec is not None:
        (outcome,) = yield from call(_effect(hook, handler))
        if not outcome.error:
            return ""
        return messages.exec_hook_failed(handler.exec.command, container, context.text, outcome.error, outcome.detail)
    if handler.http_get is not None:
        error = yield from _http(context, hook, handler)
        return messages.http_hook_failed(handler.http_get.path, container, context.text, error) if error else ""
    if handler.sleep is not None:
        yield from sleep_until(context.now + handler.sleep.seconds * SECOND)
        return ""
    # The API server accepts tcpSocket, which no kubelet has ever run.
    return messages.INVALID_HOOK


def _http(context: PodContext, hook: Hook, handler: LifecycleHandler) -> Strand[str]:
    """If the server of an HTTPS hook speaks plain HTTP, the hook asks again in plain HTTP and writes an event."""
    (outcome,) = yield from call(_effect(hook, handler))
    action = handler.http_get
    assert action is not None, "the caller looked"
    if messages.PLAIN_HTTP_ANSWER not in outcome.error:
        return outcome.error
    headers = [header for header in action.http_headers if header.name.lower() != "authorization"]
    plain = replace(handler, http_get=replace(action, scheme="HTTP", http_headers=headers))
    (again,) = yield from call(_effect(hook, plain))
    if again.error:
        return outcome.error
    context.record("Warning", messages.LIFECYCLE_HTTP_FALLBACK, messages.http_fallback(again.id))
    return ""


def _effect(hook: Hook, handler: LifecycleHandler) -> RunHook:
    return RunHook(hook.container, hook.container_id, hook.name, handler, hook.limit_seconds)


@dataclass(slots=True)
class _Run:
    done: bool = False


class PreStopHooks:
    """The preStop hooks of a pod. Each runs once for a container instance, beside the kill that waits for it.

    A kill whose grace is over goes on without the hook, and another kill of the same instance finds the hook where it
    is (kuberuntime_container.go:executePreStopHook, 1.36: a goroutine of its own, which the kubelet never cancels).
    """

    def __init__(self, context: PodContext, strands: Strands) -> None:
        self._context = context
        self._strands = strands
        self._runs: dict[str, _Run] = {}

    def wait(self, hook: Hook, limit_seconds: int) -> Strand[int]:
        """Run the hook, or find it running, and wait for it; returns the whole seconds this took."""
        run = self._runs.get(hook.container_id)
        if run is None:
            run = self._runs[hook.container_id] = _Run()
            self._strands.begin(self._run(hook, run))
        begun = self._context.now
        yield Turn(lambda: run.done, begun + limit_seconds * SECOND)
        return (self._context.now - begun) // SECOND

    def forget(self, container_id: str) -> None:
        """Notes that an instance has ended; its hook, if it still runs, ends by itself."""
        self._runs.pop(container_id, None)

    def _run(self, hook: Hook, run: _Run) -> Strand[None]:
        failure = yield from run_hook(self._context, hook)
        run.done = True
        if failure:
            # The hook's error may hold secrets, so the event has none of it.
            name = hook.container.name
            self._context.record("Warning", messages.FAILED_PRE_STOP_HOOK, messages.PRE_STOP_HOOK_FAILED, name)
