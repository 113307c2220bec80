"""Runs the policy's strand of one hook on the event loop: texts and the plain HTTP fallback are those of ``run``."""

from probelet.agent.kill.pod import KilledPod
from probelet.host.engine_host import EngineHost
from probelet.policy import messages
from probelet.policy.protocol.actions import Record
from probelet.policy.protocol.effects import Outcome, RunHook
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.hook import Hook, run_hook
from probelet.policy.strands.strand import Call, Turn
from probelet.runtime.seen.hooks import Hooks


async def run_pre_stop(pod: KilledPod, hook: Hook, hooks: Hooks, host: EngineHost) -> None:
    """Runs a preStop hook to its end; a failure is an event without the error, which may hold secrets."""
    context = PodContext(pod.pod)
    strand = run_hook(context, hook)
    answer: tuple[Outcome, ...] | None = None
    while True:
        context.now = host.timers.now()
        try:
            wait = strand.send(answer)
        except StopIteration as end:
            failure: str = end.value
            break
        answer = None
        if isinstance(wait, Call):
            answer = tuple([await _outcome(effect, pod, hooks) for effect in wait.effects])
        elif isinstance(wait, Turn) and wait.deadline_ns is not None:
            await host.timers.sleep(wait.deadline_ns - host.timers.now())
    if failure:
        context.record("Warning", messages.FAILED_PRE_STOP_HOOK, messages.PRE_STOP_HOOK_FAILED, hook.container.name)
    for action in context.out:
        if isinstance(action, Record):
            host.recorder.record(pod.uid, pod.full_name, action.type, action.reason, action.message, action.field_path)


async def _outcome(effect: object, pod: KilledPod, hooks: Hooks) -> Outcome:
    assert isinstance(effect, RunHook), "a hook's strand asks for nothing else"
    return await hooks.run(effect, pod.uid, pod.address())
