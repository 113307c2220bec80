"""One pod's life: syncs one after the other, then termination, then nothing.

The order of things is the kubelet's: pkg/kubelet/pod_workers.go (one sync at a time, requests coalesced), kubelet.go:
SyncPod, SyncTerminatingPod, SyncTerminatedPod, and kuberuntime_manager.go:SyncPod, 1.36.

Rules
 1. A sync works on the snapshot it began with, also after it killed something. So the back-off gate judges a container
    that this sync killed by the exit of its life before.
 2. A status is published when a sync begins, and nothing of what a sync does shows before the next one. So while a
    postStart hook holds up a sync, no container that it started is probed.
 3. Kills come first and one after the other; a whole pod is killed at once. Nothing starts before they have ended.
 4. A refused start or pull is looked at again exactly when its wait is over and a failed effect 10 s later (or both
    when the gate says so), and everything else when the runtime or a result changes. The kubelet also looks every
    minute; it would find nothing new here.
 5. A restart that is asked for waits for its turn as everything else; when the container has ended before, there is
    nothing to do. What it kills is no crash: no back-off holds up the start after it, nor grows by it.
 6. Termination is final. It gives up a kill or a postStart hook in flight, which the kubelet would wait for: the
    deletion's grace replaces that kill's. A preStop hook goes on, and the new kill waits for it.
"""

from enum import Enum
from typing import Final

from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.kill.killing import Killing
from probelet.policy.machine import active_deadline
from probelet.policy.machine.active_deadline import ActiveDeadline
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.node.wait import Wait
from probelet.policy.protocol.actions import Action, Arm, Cancel, Forget, Perform, Publish, StopProbing
from probelet.policy.protocol.effects import (
    Effect,
    KillContainer,
    PullImage,
    RemoveContainer,
    RemoveSandbox,
    RunHook,
    RunSandbox,
    StopSandbox,
)
from probelet.policy.protocol.inputs import Due, Input, Observed, Performed, Release, Restart, SyncRequested, Terminate
from probelet.policy.rules.grace import Grace, KillReason, find_container, select_grace, termination_grace
from probelet.policy.rules.kind import init_kind, is_sidecar
from probelet.policy.rules.restart_all import is_cleaned_up, restart_wanted
from probelet.policy.start.starting import Starting
from probelet.policy.status.container_status import ContainerStatus, container_statuses
from probelet.policy.status.phase import pod_phase
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.hook import PreStopHooks
from probelet.policy.strands.strand import Strand, Strands, call
from probelet.policy.sync.compute import compute_pod_actions
from probelet.policy.sync.plan import PodActions
from probelet.spec.model.pod import Pod, PodPhase

DEAD_CONTAINERS_KEPT: Final = 1
"""Dead instances kept per container, for its last exit (kubelet ``MaxPerPodContainer``, 1.36)."""

_NO_GRACE: Final = Grace(0, "override")


class Stage(Enum):
    """Where the pod is in its life; it only moves down this list."""

    SYNC = "sync"
    TERMINATING = "terminating"
    TERMINATED = "terminated"
    GONE = "gone"


class PodMachine:
    """The machine of one pod. Feed it inputs with a ``now`` that never goes back; do what it answers, in order.

    ``probe_grace``: whether the gate ProbeTerminationGracePeriod is on. ``images``: whether containers are made from
    images, which then have to be there before a start.
    """

    def __init__(self, pod: Pod, gate: RestartGate, *, probe_grace: bool = True, images: bool = False) -> None:
        self.pod = pod
        self.stage = Stage.SYNC
        self.phase: PodPhase = "Pending"
        self.statuses: dict[str, ContainerStatus] = {}
        self.synced_ns: list[int] = []
        """How long the syncs took that have ended; whoever reads it empties it."""
        self._probe_grace = probe_grace
        self._context = PodContext(pod)
        # Hooks outlive the program that began them; everything else belongs to the one program that is under way.
        self._hooks = Strands(self._perform)
        self._killing = Killing(self._context, PreStopHooks(self._context, self._hooks))
        self._gate = gate
        self._starting = Starting(self._context, gate, self._killing, images=images)
        # Running instances to replace, with what their Killing events say.
        self._to_replace: dict[str, str] = {}
        self._program: Strands | None = None
        self._superseded = False
        self._snapshot: Snapshot | None = None
        self._restarting_all = False
        self._wanted = False
        self._removed = False
        self._at_once = False
        self._grace = termination_grace(pod, None)
        self._look_at: int | None = None
        self._armed: int | None = None
        self._tickets = 0
        self._deadline = ActiveDeadline(pod)

    @property
    def reason(self) -> str:
        """Why the pod has failed, if it was not its containers; as ``status.reason``."""
        return active_deadline.REASON if self._deadline.exceeded else ""

    @property
    def message(self) -> str:
        """``reason`` in a sentence; as ``status.message``."""
        return active_deadline.MESSAGE if self._deadline.exceeded else ""

    @property
    def waits(self) -> dict[str, Wait]:
        """Containers in back-off, by name, as the last sync found them."""
        return self._starting.waits

    def latest(self, given: Input) -> Snapshot:
        """The snapshot that ``handle`` works on when it is given this input; empty before the first one."""
        if isinstance(given, Observed | Performed):
            return given.snapshot
        return self._snapshot or Snapshot()

    def waiting_restarts(self) -> set[str]:
        """Containers whose restart waits; not those whose image does."""
        return {name for name, wait in self.waits.items() if wait.what == "restart"}

    def handle(self, now: int, given: Input, probes: ProbeState) -> list[Action]:
        """Take one input at ``now`` (nanoseconds) and return what to do, in order.

        ``probes`` is what the prober has published at that moment, at least about the running containers of ``latest``.
        """
        context = self._context
        context.now, context.probes, context.out = now, probes, []
        match given:
            case Observed(snapshot):
                self._look(snapshot)
            case Performed():
                self._performed(given)
            case SyncRequested():
                self._wanted = True
            case Due():
                self._armed = None
                # In the middle of a program it is one of its own deadlines that has come.
                self._wanted |= self._program is None
            case Release(names):
                self._release(names)
            case Restart(container_id, message):
                self._to_replace[container_id] = message
                self._wanted = True
            case Terminate():
                self._terminate(given)
        self._go_on()
        self._arm()
        return context.out

    # Inputs.

    def _performed(self, given: Performed) -> None:
        self._look(given.snapshot)
        if self._hooks.waits_for(given.ticket):
            self._hooks.answer(given.ticket, given.outcomes)
        elif self._program is not None and self._program.waits_for(given.ticket):
            if self._superseded:
                self._program.drop(given.ticket)
            else:
                self._program.answer(given.ticket, given.outcomes)
        else:
            raise ValueError(f"pod {self._context.text}: ticket {given.ticket} is not in flight")

    def _look(self, snapshot: Snapshot) -> None:
        """The first look starts the pod; a later one asks for a sync if it shows something new."""
        self._wanted |= self._snapshot is None or snapshot.has_news(self._snapshot)
        self._snapshot = snapshot

    def _release(self, names: tuple[str, ...]) -> None:
        for name in self.waiting_restarts() & set(names):
            self._gate.release(self.pod, find_container(self.pod, name))
            self._wanted = True

    def _terminate(self, given: Terminate) -> None:
        grace = _NO_GRACE if given.at_once else termination_grace(self.pod, given.grace_seconds)
        # A second request only ever shortens the grace (pod_workers.go:calculateEffectiveGracePeriod).
        shorter = grace.seconds < self._grace.seconds
        if self._removed and not shorter:
            return
        interrupts = shorter or self.stage is Stage.SYNC
        self._removed = True
        self._at_once |= given.at_once
        self._grace = grace
        self._wanted = True
        if self.stage is Stage.SYNC:
            self.stage = Stage.TERMINATING
        if self._program is not None and interrupts:
            self._superseded = True
            for ticket, effects in self._program.calls():
                # Only these are worth giving up: they may take for ever, and a half-made container is nobody's.
                if isinstance(effects[0], KillContainer | PullImage | RunHook):
                    self._context.out.append(Cancel(ticket))

    # Programs: strands of which one is under way at a time.

    def _perform(self, effects: tuple[Effect, ...]) -> int:
        self._tickets += 1
        self._context.out.append(Perform(self._tickets, effects))
        return self._tickets

    def _go_on(self) -> None:
        """Let everything go on that can, and begin what is wanted."""
        now = self._context.now
        self._hooks.look(now)
        while True:
            if self._program is not None:
                if not self._superseded:
                    self._program.look(now)
                    if not self._program.idle:
                        return
                    waits = self.waits.values()
                    self._look_at = self._gate.look_again(waits, now, failed=self._context.failed)
                elif any(self._program.calls()):
                    return
                # What was under way has ended, or is no longer wanted: the next program decides on a fresh snapshot.
                self._program, self._superseded = None, False
            program = self._next_program(self._snapshot) if self._wanted and self._snapshot is not None else None
            self._wanted = self._wanted and self._snapshot is None
            if program is None:
                return
            self._context.failed = False
            self._program = Strands(self._perform)
            self._program.begin(program)

    def _next_program(self, snapshot: Snapshot) -> Strand[None] | None:
        match self.stage:
            case Stage.SYNC:
                return self._timed_sync(snapshot)
            case Stage.TERMINATING:
                return self._sync_terminating(snapshot)
            case Stage.TERMINATED if self._removed:
                return self._sync_terminated(snapshot)
        return None

    def _arm(self) -> None:
        """The one deadline: a hook's or a turn's, or what an idle pod waits for."""
        deadlines = [self._hooks.deadline_ns]
        if self._program is None:
            deadlines.append(self._look_at)
            if self.stage is Stage.SYNC:
                deadlines.append(self._deadline.due_ns)
        elif not self._superseded:
            deadlines.append(self._program.deadline_ns)
        wanted = min((deadline for deadline in deadlines if deadline is not None), default=None)
        if self.stage is Stage.GONE:
            wanted = None
        if wanted != self._armed:
            self._armed = wanted
            self._context.out.append(Arm(wanted))

    # SyncPod.

    def _timed_sync(self, snapshot: Snapshot) -> Strand[None]:
        began = self._context.now
        yield from self._sync(snapshot)
        self.synced_ns.append(self._context.now - began)

    def _sync(self, snapshot: Snapshot) -> Strand[None]:
        if self._deadline.look(self._context.now):
            self._context.record("Normal", active_deadline.REASON, active_deadline.MESSAGE)
        phase = self._publish(snapshot, terminal=False)
        self.waits.clear()
        if phase in ("Succeeded", "Failed"):
            self.stage = Stage.TERMINATING
            self._wanted = True
            return
        errors_before = dict(self._starting.errors)
        self._forget_replaced(snapshot)
        actions = compute_pod_actions(
            self.pod, snapshot, self._context.probes, restarting_all=self._restarting_all, to_replace=self._to_replace
        )
        if actions.create_sandbox and actions.sandbox_id:
            self._context.record("Normal", messages.SANDBOX_CHANGED, messages.SANDBOX_CHANGED_MESSAGE)
        yield from self._kill(snapshot, actions)
        if not self._context.failed:
            yield from self._start(snapshot, actions)
        if not self._context.failed:
            yield from self._prune()
        if self._starting.errors != errors_before and not self._wanted:
            # The kubelet shows a refused start at its next look; there is none before the wait is over.
            self._publish(snapshot, terminal=False)

    def _forget_replaced(self, snapshot: Snapshot) -> None:
        for container_id in self._to_replace.keys() - {record.id for record in snapshot.running()}:
            del self._to_replace[container_id]

    def _kill(self, snapshot: Snapshot, actions: PodActions) -> Strand[None]:
        if actions.kill_pod:
            grace = select_grace(self.pod, self.pod.spec.containers[0], KillReason.UNKNOWN)
            yield from self._kill_pod(snapshot, grace)
            if actions.create_sandbox and not self._context.failed:
                yield from self._purge_init_containers(snapshot)
            return
        for victim in actions.kill:
            container = find_container(self.pod, victim.record.name)
            grace = select_grace(self.pod, container, victim.reason, probe_grace=self._probe_grace)
            outcome = yield from self._killing.kill(container, victim.record.id, victim.reason, grace, victim.message)
            if outcome.error:
                self._context.failed = True
                return
            self._starting.note_kill(victim, self._snapshot or snapshot)
        if actions.reset:
            yield from self._reset(snapshot, actions)

    def _kill_pod(self, snapshot: Snapshot, grace: Grace) -> Strand[None]:
        """Every running container at once, then the sandboxes (kubelet killPodWithSyncResult, 1.36)."""
        running = snapshot.running()
        if self._at_once:
            outcomes = yield from self._killing.kill_at_once(running)
        else:
            outcomes = yield from self._killing.kill_all(running, grace)
        if snapshot.sandboxes:
            outcomes += yield from call(*(StopSandbox(sandbox.id) for sandbox in snapshot.sandboxes))
        errors = [outcome.error for outcome in outcomes if outcome.error]
        if errors:
            self._context.failed = True
            self._context.record("Warning", messages.FAILED_KILL_POD, messages.failed_kill("; ".join(errors)))

    def _reset(self, snapshot: Snapshot, actions: PodActions) -> Strand[None]:
        """Remove every container, killing those that run without hook or grace; the next sync starts the pod anew."""
        self._starting.keep_exits(snapshot)
        for reset in actions.reset:
            name, container_id = reset.container.name, reset.record.id
            if reset.kill:
                reason, message = KillReason.RESTART_ALL, messages.RESET_CONTAINER
                outcome = yield from self._killing.kill(reset.container, container_id, reason, _NO_GRACE, message)
                self._context.failed |= bool(outcome.error)
            if not self._context.failed:
                yield from self._remove(RemoveContainer(name, container_id, keep_log=True))
            if self._context.failed:
                return
        self._wanted = True

    def _purge_init_containers(self, snapshot: Snapshot) -> Strand[None]:
        """In a new sandbox the pod is initialised again: what the old one's init containers did is forgotten."""
        names = {container.name for container in self.pod.spec.init_containers}
        removals = [RemoveContainer(r.name, r.id) for r in snapshot.containers if r.name in names]
        if removals:
            yield from call(*removals)

    def _start(self, snapshot: Snapshot, actions: PodActions) -> Strand[None]:
        sandbox_id = actions.sandbox_id
        if actions.create_sandbox:
            (outcome,) = yield from call(RunSandbox(actions.attempt))
            if outcome.error:
                self._context.failed = True
                failure = messages.failed_sandbox(outcome.error)
                self._context.record("Warning", messages.FAILED_CREATE_POD_SANDBOX, failure)
                return
            sandbox_id = outcome.id
        start, statuses = self._starting.start, self.statuses
        for container in actions.start_init:
            kind = init_kind(container)
            started = yield from start(snapshot, sandbox_id, kind, container, statuses)
            if not started and not is_sidecar(container):
                return
        for container in actions.start:
            yield from start(snapshot, sandbox_id, "regular", container, statuses)

    def _prune(self) -> Strand[None]:
        """Remove dead instances beyond the newest one, and old sandboxes; a failure is left to the next sync."""
        snapshot = self._snapshot or Snapshot()
        effects: tuple[Effect, ...] = tuple(RemoveContainer(r.name, r.id) for r in _superfluous(snapshot))
        in_use = {record.sandbox_id for record in snapshot.containers}
        old = snapshot.sandboxes[1:]
        effects += tuple(RemoveSandbox(box.id) for box in old if not box.ready and box.id not in in_use)
        if effects:
            yield from call(*effects)

    # SyncTerminatingPod and SyncTerminatedPod.

    def _sync_terminating(self, snapshot: Snapshot) -> Strand[None]:
        self.waits.clear()
        self._publish(snapshot, terminal=False, terminating=True)
        yield from self._kill_pod(snapshot, self._grace)
        left = self._snapshot.running() if self._snapshot is not None else ()
        if self._context.failed or left:
            # The runtime says it killed them and shows them running: look again rather than believe either.
            self._context.failed = True
            return
        self._context.out.append(StopProbing())
        self._publish(self._snapshot or snapshot, terminal=True, terminating=True)
        self.stage = Stage.TERMINATED
        self._wanted = self._removed

    def _sync_terminated(self, snapshot: Snapshot) -> Strand[None]:
        if snapshot.containers:
            yield from self._remove(*(RemoveContainer(r.name, r.id) for r in snapshot.containers))
        if snapshot.sandboxes and not self._context.failed:
            yield from self._remove(*(RemoveSandbox(sandbox.id) for sandbox in snapshot.sandboxes))
        if self._context.failed:
            return
        self.stage = Stage.GONE
        self._context.out.append(Forget())

    def _remove(self, *effects: Effect) -> Strand[None]:
        outcomes = yield from call(*effects)
        self._context.failed |= any(outcome.error for outcome in outcomes)

    # Output.

    def _publish(self, snapshot: Snapshot, *, terminal: bool, terminating: bool = False) -> PodPhase:
        restarting_all = self._restarting_all or restart_wanted(self.pod, snapshot)
        self.statuses = container_statuses(
            self.pod, snapshot, self._starting.errors, self.statuses, restarting_all=restarting_all
        )
        self.phase = pod_phase(
            self.pod,
            self.statuses,
            terminal=terminal,
            initialized=_regular_created(self.pod, snapshot),
            started=self._context.probes.started,
        )
        if self._deadline.exceeded:
            self.phase = "Failed"
        over = self.phase in ("Succeeded", "Failed")
        self._restarting_all = restarting_all and not over and not is_cleaned_up(self.pod, snapshot)
        self._context.out.append(Publish(self.phase, snapshot.pod_ip, self.statuses, terminating or over))
        return self.phase


def _regular_created(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether the sandbox in use has a regular container (kubelet HasAnyActiveRegularContainerStarted, 1.36)."""
    if not snapshot.sandboxes or not snapshot.sandboxes[0].ready:
        return False
    names = {container.name for container in pod.spec.containers}
    active = snapshot.sandboxes[0].id
    return any(record.sandbox_id == active and record.name in names for record in snapshot.containers)


def _superfluous(snapshot: Snapshot) -> list[ContainerRecord]:
    seen: dict[str, int] = {}
    found = []
    for record in snapshot.containers:
        if record.state is State.RUNNING:
            continue
        seen[record.name] = seen.get(record.name, 0) + 1
        if seen[record.name] > DEAD_CONTAINERS_KEPT:
            found.append(record)
    return found
