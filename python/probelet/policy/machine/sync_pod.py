"""One sync of a pod that is to run (kubelet.go:SyncPod and kuberuntime_manager.go:SyncPod, 1.36).

A sync publishes the pod, computes what to do, and does it: kill, reset, start, prune. It works on the snapshot that it
began with, also after it killed something, and stops at the first failure.
"""

from typing import Final

from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.kill.killing import Killing
from probelet.policy.machine import active_deadline
from probelet.policy.machine.active_deadline import ActiveDeadline
from probelet.policy.machine.pod_removal import kill_pod, remove
from probelet.policy.machine.publishing import Publishing
from probelet.policy.node.kill_gate import KillGate
from probelet.policy.protocol.actions import Recheck
from probelet.policy.protocol.effects import Effect, RemoveContainer, RemoveSandbox, RunSandbox
from probelet.policy.rules.grace import Grace, KillReason, find_container, select_grace
from probelet.policy.rules.kind import init_kind, is_sidecar
from probelet.policy.start.pace import NEW_SANDBOX, kill_of, start_of
from probelet.policy.start.starting import Starting
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.strand import Strand, call
from probelet.policy.sync.compute import compute_pod_actions
from probelet.policy.sync.plan import PodActions

DEAD_CONTAINERS_KEPT: Final = 1
"""Dead instances kept per container, for its last exit (kubelet ``MaxPerPodContainer``, 1.36)."""

_NO_GRACE: Final = Grace(0, "override")


class SyncPod:
    """Strands that sync one pod. ``probe_grace``: whether the gate ProbeTerminationGracePeriod is on."""

    def __init__(
        self,
        context: PodContext,
        killing: Killing,
        starting: Starting,
        publishing: Publishing,
        deadline: ActiveDeadline,
        *,
        probe_grace: bool,
        kill_gate: KillGate | None,
    ) -> None:
        self.held_until_ns: int | None = None
        """When the first of the pod's liveness kills that wait goes on at the latest; None if none waits."""
        self.to_replace: dict[str, str] = {}
        """Running instances to replace though nothing is wrong with them, by id, with their Killing events."""
        self._context = context
        self._killing = killing
        self._starting = starting
        self._publishing = publishing
        self._deadline = deadline
        self._probe_grace = probe_grace
        self._kill_gate = kill_gate

    def run(self, snapshot: Snapshot) -> Strand[bool]:
        """Sync the pod; returns whether it has finished, so that it is to be ended.

        What the pod's ``Pace`` puts off is left to a later sync, and nothing that belongs to it is done in this one.
        """
        context, starting = self._context, self._starting
        if self._deadline.check():
            context.record("Normal", active_deadline.REASON, active_deadline.MESSAGE)
        phase = self._publishing.publish(snapshot, terminal=False)
        starting.waits.clear()
        starting.pace.begin()
        if phase in ("Succeeded", "Failed"):
            return True
        errors_before = dict(starting.errors)
        self._forget_replaced(snapshot)
        actions = compute_pod_actions(
            context.pod,
            snapshot,
            self._without_held_kills(snapshot),
            restarting_all=self._publishing.restarting_all,
            to_replace=self.to_replace,
        )
        if actions.create_sandbox and not starting.pace.allows(NEW_SANDBOX, context.now):
            return False
        if actions.create_sandbox and actions.sandbox_id:
            context.record("Normal", messages.SANDBOX_CHANGED, messages.SANDBOX_CHANGED_MESSAGE)
        yield from self._kill(snapshot, actions)
        if not context.failed:
            yield from self._start(snapshot, actions)
        if not context.failed:
            yield from self._prune()
        if starting.errors != errors_before and not context.sync_requested:
            # The kubelet shows a refused start at its next look; there is none before the wait is over.
            self._publishing.publish(snapshot, terminal=False)
        return False

    def _without_held_kills(self, snapshot: Snapshot) -> ProbeState:
        """The probes' results without the liveness failures whose kills wait; their probes go on."""
        context, gate = self._context, self._kill_gate
        if gate is None:
            return context.probes
        gated = gate.judge_all(context.now, context.pod, snapshot, context.probes)
        self.held_until_ns = gated.until_ns
        context.out += map(Recheck, gated.rechecks)
        for held in gated.begun:
            context.record("Warning", messages.KILL_HELD, held.message, held.container)
        return gated.probes

    def _forget_replaced(self, snapshot: Snapshot) -> None:
        for container_id in self.to_replace.keys() - {record.id for record in snapshot.running()}:
            del self.to_replace[container_id]

    def _kill(self, snapshot: Snapshot, actions: PodActions) -> Strand[None]:
        context = self._context
        if actions.kill_pod:
            grace = select_grace(context.pod, context.pod.spec.containers[0], KillReason.UNKNOWN)
            yield from kill_pod(context, self._killing, snapshot, grace)
            if actions.create_sandbox and not context.failed:
                yield from self._purge_init_containers(snapshot)
            return
        pace = self._starting.pace
        for victim in actions.kill:
            name = victim.record.name
            if not all(pace.allows(what, context.now) for what in (start_of(name), kill_of(name))):
                continue
            pace.record(kill_of(name), context.now)
            container = find_container(context.pod, name)
            grace = select_grace(context.pod, container, victim.reason, probe_grace=self._probe_grace)
            outcome = yield from self._killing.kill(container, victim.record.id, victim.reason, grace, victim.message)
            if outcome.error:
                context.failed = True
                return
            self._starting.record_kill(victim, context.snapshot)
        if actions.reset:
            yield from self._reset(snapshot, actions)

    def _reset(self, snapshot: Snapshot, actions: PodActions) -> Strand[None]:
        """Kill the running containers without hook or grace and remove all; the next sync starts the pod anew."""
        context = self._context
        self._starting.keep_exits(snapshot)
        for reset in actions.reset:
            name, container_id = reset.container.name, reset.record.id
            if reset.kill:
                reason, message = KillReason.RESTART_ALL, messages.RESET_CONTAINER
                outcome = yield from self._killing.kill(reset.container, container_id, reason, _NO_GRACE, message)
                context.failed |= bool(outcome.error)
            if not context.failed:
                yield from remove(context, RemoveContainer(name, container_id, keep_log=True))
            if context.failed:
                return
        context.sync_requested = True

    def _purge_init_containers(self, snapshot: Snapshot) -> Strand[None]:
        """In a new sandbox the init containers run again, so the sync forgets their end in the old one."""
        names = {container.name for container in self._context.pod.spec.init_containers}
        removals = [RemoveContainer(r.name, r.id) for r in snapshot.containers if r.name in names]
        if removals:
            yield from call(*removals)

    def _start(self, snapshot: Snapshot, actions: PodActions) -> Strand[None]:
        sandbox_id = actions.sandbox_id
        if actions.create_sandbox:
            self._starting.pace.record(NEW_SANDBOX, self._context.now)
            (outcome,) = yield from call(RunSandbox(actions.attempt))
            if outcome.error:
                self._context.failed = True
                failure = messages.failed_sandbox(outcome.error)
                self._context.record("Warning", messages.FAILED_CREATE_POD_SANDBOX, failure)
                return
            sandbox_id = outcome.id
        start, statuses = self._starting.start, self._publishing.statuses
        for container in actions.start_init:
            kind = init_kind(container)
            started = yield from start(snapshot, sandbox_id, kind, container, statuses)
            if not started and not is_sidecar(container):
                return
        for container in actions.start:
            yield from start(snapshot, sandbox_id, "regular", container, statuses)

    def _prune(self) -> Strand[None]:
        """Remove dead instances beyond the newest one, and old sandboxes; the next sync tries again what failed."""
        snapshot = self._context.snapshot
        effects: tuple[Effect, ...] = tuple(RemoveContainer(r.name, r.id) for r in _superfluous(snapshot))
        in_use = {record.sandbox_id for record in snapshot.containers}
        old = snapshot.sandboxes[1:]
        effects += tuple(RemoveSandbox(box.id) for box in old if not box.ready and box.id not in in_use)
        if effects:
            yield from call(*effects)


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
