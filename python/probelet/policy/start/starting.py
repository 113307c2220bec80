"""How containers are started: the back-off gate, the image, create, start, postStart hook.

Kubelet kuberuntime_manager.go:SyncPod (its ``start``) and kuberuntime_container.go:startContainer, 1.36.
"""

from collections.abc import Mapping
from typing import Final, Literal

from probelet.policy import messages
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.kill.killing import Killing
from probelet.policy.node.restart_gate import RestartGate, StartDecision, Wait
from probelet.policy.protocol.effects import CreateContainer, Outcome, RestartCause, StartContainer
from probelet.policy.rules.grace import KillReason, select_grace
from probelet.policy.rules.kind import Kind
from probelet.policy.start.pace import Pace, start_of
from probelet.policy.start.pulling import Pulling
from probelet.policy.status.container_status import ContainerStatus, StartError
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.hook import Hook, run_hook
from probelet.policy.strands.strand import Strand, call
from probelet.policy.sync.plan import Victim
from probelet.spec.model.container import Container

_PROBE_CAUSES: Final[dict[KillReason, RestartCause]] = {
    KillReason.LIVENESS: "probe_liveness",
    KillReason.STARTUP: "probe_startup",
}

_KILL_CAUSES: Final[dict[KillReason, RestartCause]] = {**_PROBE_CAUSES, KillReason.MAX_AGE: "max_age"}


class Starting:
    """Strands that start containers of one pod, and the errors and waits of the last starts."""

    def __init__(self, context: PodContext, gate: RestartGate, killing: Killing, *, images: bool) -> None:
        self.errors: dict[str, StartError] = {}
        """Why containers could not be started, by name (kubelet ``reasonCache``)."""
        self.waits: dict[str, Wait] = {}
        """Containers in back-off, by name, as the last sync found them."""
        self.pace = Pace()
        """How often this pod has the same thing done."""
        self._context = context
        self._gate = gate
        self._killing = killing
        self._pulling = Pulling(context) if images else None
        self._kept_exits: dict[str, ContainerRecord] = {}
        # The last kill of each container, by name: the instance and the reason.
        self._killed: dict[str, tuple[str, KillReason]] = {}
        # Exits that replace the snapshot's in the next start decision (``own_exit``), by name.
        self._own_exits: dict[str, ContainerRecord] = {}

    def keep_exits(self, snapshot: Snapshot) -> None:
        """Keep the exits of containers that get removed now: they still count for their back-off.

        The kubelet loses them with the containers, so a container that keeps asking for a restart of all is restarted
        without any delay; KEP-5532 says that it is delayed as usual.
        """
        for record in snapshot.containers:
            if (exited := snapshot.newest_exited(record.name)) is not None:
                self._kept_exits[record.name] = exited

    def record_kill(self, victim: Victim, snapshot: Snapshot) -> None:
        """Remember a kill; ``snapshot`` is the runtime's report after it."""
        record, reason = victim.record, victim.reason
        self._killed[record.name] = (record.id, reason)
        exited = snapshot.newest_exited(record.name)
        if self._gate.options.own_exit and reason in _PROBE_CAUSES and exited is not None and exited.id == record.id:
            self._own_exits[record.name] = exited

    def start(
        self,
        snapshot: Snapshot,
        sandbox_id: str,
        kind: Kind,
        container: Container,
        statuses: Mapping[str, ContainerStatus],
    ) -> Strand[bool]:
        """Start one container if the gate lets it pass; False if it does not run now. ``statuses``: as published."""
        context, name = self._context, container.name
        if not self.pace.allows(start_of(name), context.now):
            return False
        if self._was_replaced(name, snapshot):
            verdict = StartDecision("start", free=True)
        else:
            exited = self._own_exits.pop(name, None) or snapshot.newest_exited(name) or self._kept_exits.get(name)
            verdict = self._gate.decide(context.pod, container, exited, context.now)
        if verdict.word != "start":
            return self._refused(name, verdict)
        self.pace.record(start_of(name), context.now)
        image_ref = yield from self._image(container, sandbox_id)
        if image_ref is None:
            return False
        cause = self._cause(name, snapshot)
        self._kept_exits.pop(name, None)
        count = _restart_count(snapshot.newest(name), statuses.get(name))
        (created,) = yield from call(CreateContainer(sandbox_id, kind, container, count, image_ref))
        if created.error:
            config = created.unconfigured
            reason = messages.CREATE_CONTAINER_CONFIG_ERROR if config else messages.CREATE_CONTAINER_ERROR
            return self._failed(name, reason, created, created.detail)
        context.record("Normal", messages.CREATED, messages.CONTAINER_CREATED, name)
        (started,) = yield from call(StartContainer(name, created.id, cause, verdict.free))
        if started.error:
            said = messages.named(started.detail, created.id, name)
            return self._failed(name, messages.RUN_CONTAINER_ERROR, started, said)
        context.record("Normal", messages.STARTED, messages.CONTAINER_STARTED, name)
        if container.lifecycle is not None and container.lifecycle.post_start is not None:
            hook = Hook(container, created.id, "postStart", container.lifecycle.post_start)
            if not (yield from self._post_start(hook)):
                return False
        self.errors.pop(name, None)
        return True

    def _image(self, container: Container, sandbox_id: str) -> Strand[str | None]:
        """The image to create the container from; None, after an event with the reason, if there is none now."""
        if self._pulling is None:
            return ""
        found = yield from self._pulling.ensure(container, sandbox_id)
        if isinstance(found, str):
            return found
        name = container.name
        if isinstance(found, StartError):
            self._context.failed = True
        else:
            self.waits[name], found = found
        self.errors[name] = found
        self._context.record("Warning", messages.FAILED, messages.error_event(found.reason), name)
        return None

    def _refused(self, name: str, verdict: StartDecision) -> Literal[False]:
        context = self._context
        self.waits[name] = Wait(verdict.due_ns, verdict.delay_ns)
        if verdict.word == "budget":
            text = messages.budget_waiting(name, context.text)
            self.errors[name] = StartError(messages.RESTART_BUDGET, text)
            context.record("Warning", messages.BACK_OFF, messages.budget_event(name, context.text), name)
            return False
        text = messages.back_off_waiting(verdict.delay_ns, name, context.text)
        self.errors[name] = StartError(messages.CRASH_LOOP_BACK_OFF, text)
        context.record("Warning", messages.BACK_OFF, messages.back_off_event(name, context.text), name)
        return False

    def _was_replaced(self, name: str, snapshot: Snapshot) -> bool:
        """Whether a healthy instance was killed to be replaced; its start passes no gate."""
        newest = snapshot.newest(name)
        return newest is not None and self._killed.get(name) == (newest.id, KillReason.MAX_AGE)

    def _cause(self, name: str, snapshot: Snapshot) -> RestartCause:
        """The cause of the end before this start; "" at the first start."""
        newest = snapshot.newest(name)
        if newest is None:
            return "other" if name in self._kept_exits else ""
        container_id, reason = self._killed.get(name, ("", KillReason.UNKNOWN))
        if container_id == newest.id:
            return _KILL_CAUSES.get(reason, "other")
        if newest.state is not State.EXITED:
            return "other"
        if newest.reason == messages.OOM_KILLED:
            return "oom"
        return "error" if newest.exit_code else "exit0"

    def _post_start(self, hook: Hook) -> Strand[bool]:
        """The start is not over before its hook is; a container whose hook failed is killed."""
        context, container = self._context, hook.container
        failure = yield from run_hook(context, hook)
        if not failure:
            return True
        name = container.name
        # The hook's error may hold secrets, so the event has none of it.
        context.record("Warning", messages.FAILED_POST_START_HOOK, messages.POST_START_HOOK_FAILED, name)
        reason = KillReason.POST_START
        grace = select_grace(context.pod, container, reason)
        # The kubelet passes the reason as the message of the Killing event. A failed kill is left to the next sync.
        yield from self._killing.kill(container, hook.container_id, reason, grace, reason.value)
        context.failed = True
        self.errors[name] = StartError(messages.POST_START_HOOK_ERROR, failure)
        return False

    def _failed(self, name: str, reason: str, outcome: Outcome, said: str) -> Literal[False]:
        self._context.failed = True
        self.errors[name] = StartError(reason, outcome.detail)
        self._context.record("Warning", messages.FAILED, messages.error_event(said), name)
        return False


def _restart_count(newest: ContainerRecord | None, status: ContainerStatus | None) -> int:
    """One more than the instance before, also where the runtime has forgotten it but the status has not.

    If both have forgotten it, the driver counts the log files when it creates the container.
    """
    if newest is not None:
        return newest.restart_count + 1
    return 0 if status is None else status.restart_count + (status.state == "terminated")
