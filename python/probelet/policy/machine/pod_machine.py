"""One pod's life: syncs one after the other, then termination, then nothing. ``states`` holds the table of its states.

The order of things is the kubelet's: pkg/kubelet/pod_workers.go (one sync at a time, requests coalesced), kubelet.go:
SyncPod, SyncTerminatingPod, SyncTerminatedPod, and kuberuntime_manager.go:SyncPod, 1.36.

Rules
 1. A sync works on the snapshot it began with, also after it killed something. So the back-off gate judges a container
    that this sync killed by the exit of its life before.
 2. A sync publishes a status when it begins, and nothing of what it does shows before the next sync. So while a
    postStart hook holds up a sync, the prober probes no container that this sync started.
 3. Kills come first and one after the other; a whole pod is killed at once. Nothing starts before they have ended.
 4. The machine looks again at a refused start or pull exactly when its wait is over, at a failed effect 10 s later (or
    at both when the gate says so), and at everything else when the runtime or a result changes. The kubelet also looks
    every minute; it would find nothing new here.
 5. A restart that an operator or an age asks for waits for its turn like everything else; if the container has ended
    before, there is nothing to do. Its kill is no crash: no back-off holds up the start after it, or grows by it.
 6. A runtime that reports nonsense gets the same order at most once a second after the first ten (``start.pace``).
 7. Termination is final. It gives up a kill or a postStart hook in flight, for which the kubelet would wait: the
    deletion's grace replaces that kill's. A preStop hook goes on, and the new kill waits for it.
 7. A changed pod takes the place of the old one when a programme begins, never in the middle of one.
"""

from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.kill.killing import Killing
from probelet.policy.machine import active_deadline
from probelet.policy.machine.active_deadline import ActiveDeadline
from probelet.policy.machine.pod_removal import kill_pod, remove_pod
from probelet.policy.machine.publishing import Publishing
from probelet.policy.machine.states import (
    Ending,
    Gone,
    Idle,
    PodState,
    ProgrammeState,
    Running,
    Superseded,
    Syncing,
    Terminated,
    Terminating,
    Unseen,
)
from probelet.policy.machine.sync_pod import SyncPod
from probelet.policy.node.kill_gate import KillGate
from probelet.policy.node.restart_gate import RestartGate, Wait
from probelet.policy.protocol.actions import Action, Arm, Cancel, Define, Forget, Perform, StopProbing
from probelet.policy.protocol.effects import Effect, KillContainer, PullImage, RunHook
from probelet.policy.protocol.inputs import (
    Change,
    Due,
    Input,
    Observed,
    Performed,
    Release,
    Restart,
    SyncRequested,
    Terminate,
)
from probelet.policy.rules.grace import Grace, find_container, termination_grace
from probelet.policy.start.starting import Starting
from probelet.policy.status.container_status import ContainerStatus
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.hook import PreStopHooks
from probelet.policy.strands.strand import Strand, Strands
from probelet.spec.model.pod import Pod, PodPhase


class PodMachine:
    """The machine of one pod. Feed it inputs with a ``now`` that never goes back; do what it answers, in order.

    ``probe_grace``: whether the gate ProbeTerminationGracePeriod is on. ``images``: whether containers are made from
    images, which then have to be there before a start. ``kill_gate``: holds liveness kills; without one none waits.
    """

    def __init__(
        self,
        pod: Pod,
        gate: RestartGate,
        *,
        probe_grace: bool = True,
        images: bool = False,
        kill_gate: KillGate | None = None,
    ) -> None:
        self.state: PodState = Syncing()
        self.programme: ProgrammeState = Unseen()
        self.synced_ns: list[int] = []
        """How long the syncs took that have ended; its reader empties it."""
        self._gate = gate
        self._context = context = PodContext(pod)
        # Hooks outlive the programme that began them, so they are strands of their own.
        self._hooks = Strands(self._perform)
        self._killing = Killing(context, PreStopHooks(context, self._hooks))
        self._starting = Starting(context, gate, self._killing, images=images)
        self._deadline = ActiveDeadline(context)
        self._publishing = Publishing(context, self._deadline, self._starting.errors)
        self._sync = SyncPod(
            context,
            self._killing,
            self._starting,
            self._publishing,
            self._deadline,
            probe_grace=probe_grace,
            kill_gate=kill_gate,
        )
        # The newest change of the manifest, until a programme takes it.
        self._changed: Change | None = None
        # The driver's timer: it gets a new deadline only when this one is another.
        self._armed: int | None = None
        # The number of tickets given out: each names one request for effects.
        self._tickets = 0

    @property
    def pod(self) -> Pod:
        """The pod as the last programme took it."""
        return self._context.pod

    @property
    def phase(self) -> PodPhase:
        """The phase that the pod last published."""
        return self._publishing.phase

    @property
    def statuses(self) -> dict[str, ContainerStatus]:
        """The statuses that the pod last published, by container."""
        return self._publishing.statuses

    @property
    def reason(self) -> str:
        """Why the pod has failed, if its containers are not the reason; as ``status.reason``."""
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
        return given.snapshot if isinstance(given, Observed | Performed) else self._context.snapshot

    def waiting_restarts(self) -> set[str]:
        """Containers whose restart waits. A container that waits for its image is not among them."""
        return {name for name, wait in self.waits.items() if wait.what == "restart"}

    def handle(self, now: int, given: Input, probes: ProbeState) -> list[Action]:
        """Take one input at ``now`` (nanoseconds) and return what to do, in order.

        ``probes`` is what the prober has published at that moment, at least about the running containers of ``latest``.
        """
        context = self._context
        context.now, context.probes, context.out = now, probes, []
        match given:
            case Observed(snapshot):
                self._observe(snapshot)
            case Performed():
                self._performed(given)
            case SyncRequested():
                context.sync_requested = True
            case Due():
                self._armed = None
                # In the middle of a programme the deadline is one of the programme's own.
                context.sync_requested |= isinstance(self.programme, Idle)
            case Release(names):
                self._release(names)
            case Restart(container_id, message):
                self._sync.to_replace[container_id] = message
                context.sync_requested = True
            case Change():
                self._changed = given
                context.sync_requested |= isinstance(self.state, Syncing)
            case Terminate():
                self._terminate(given)
        self._go_on()
        self._arm()
        return context.out

    # Inputs.

    def _performed(self, given: Performed) -> None:
        self._observe(given.snapshot)
        if self._hooks.waits_for(given.ticket):
            self._hooks.answer(given.ticket, given.outcomes)
            return
        match self.programme:
            case Running(strands) if strands.waits_for(given.ticket):
                strands.answer(given.ticket, given.outcomes)
            case Superseded(strands) if strands.waits_for(given.ticket):
                strands.drop(given.ticket)
            case _:
                raise ValueError(f"pod {self._context.text}: ticket {given.ticket} is not in flight")

    def _observe(self, snapshot: Snapshot) -> None:
        """The first snapshot starts the pod; a later one asks for a sync if it shows something new."""
        context = self._context
        if isinstance(self.programme, Unseen):
            self.programme = Idle()
            context.sync_requested = True
        else:
            context.sync_requested |= snapshot.has_news(context.snapshot)
        context.snapshot = snapshot

    def _release(self, names: tuple[str, ...]) -> None:
        for name in self.waiting_restarts() & set(names):
            self._gate.release(self.pod, find_container(self.pod, name))
            self._context.sync_requested = True

    def _terminate(self, given: Terminate) -> None:
        """A second request only ever shortens the grace (pod_workers.go:calculateEffectiveGracePeriod, 1.36)."""
        grace = Grace(0, "override") if given.at_once else termination_grace(self.pod, given.grace_seconds)
        match self.state:
            case Syncing():
                interrupts = True
                self.state = Terminating(Ending(grace, given.at_once, removed=True))
            case Terminating(before) | Terminated(before):
                interrupts = grace.seconds < before.grace.seconds
                if before.removed and not interrupts:
                    return
                ending = Ending(grace, before.at_once or given.at_once, removed=True)
                self.state = Terminating(ending) if isinstance(self.state, Terminating) else Terminated(ending)
            case Gone():
                return
        self._context.sync_requested = True
        if interrupts:
            self._interrupt()

    def _interrupt(self) -> None:
        if not isinstance(self.programme, Running | Superseded):
            return
        self.programme = Superseded(self.programme.strands)
        for ticket, effects in self.programme.strands.calls():
            # Only these calls may take for ever. Cancelling another could leave a half-made container behind.
            if isinstance(effects[0], KillContainer | PullImage | RunHook):
                self._context.out.append(Cancel(ticket))

    # Programmes: strands of which one is under way at a time.

    def _perform(self, effects: tuple[Effect, ...]) -> int:
        self._tickets += 1
        self._context.out.append(Perform(self._tickets, effects))
        return self._tickets

    def _go_on(self) -> None:
        """Let everything go on that can, and begin the programme that is requested."""
        context = self._context
        self._hooks.resume(context.now)
        while self._is_idle() and context.sync_requested:
            context.sync_requested = False
            self._apply_change()
            programme = self._next_programme(context.snapshot)
            if programme is None:
                return
            context.failed = False
            strands = Strands(self._perform)
            self.programme = Running(strands)
            strands.begin(programme)

    def _apply_change(self) -> None:
        if self._changed is None:
            return
        context, pod = self._context, self._changed.pod
        # The probes of a pod that ends only become fewer.
        live = self._changed.live and isinstance(self.state, Syncing)
        self._changed = None
        self._gate.change(context.pod, pod, context.now)
        context.pod = pod
        context.out.append(Define(pod, live))

    def _is_idle(self) -> bool:
        """Whether a programme could begin, after the one under way has gone on as far as it can."""
        programme, context = self.programme, self._context
        if isinstance(programme, Running):
            programme.strands.resume(context.now)
            if not programme.strands.idle:
                return False
            after_wait = self._gate.next_sync(self.waits.values(), context.now, failed=context.failed)
            moments = (after_wait, self._starting.pace.due_ns, self._sync.held_until_ns)
            self.programme = Idle(min((at for at in moments if at is not None), default=None))
            return True
        if isinstance(programme, Superseded) and not any(programme.strands.calls()):
            # The next programme decides on a fresh snapshot.
            self.programme = Idle()
        return isinstance(self.programme, Idle)

    def _next_programme(self, snapshot: Snapshot) -> Strand[None] | None:
        match self.state:
            case Syncing():
                return self._sync_pod(snapshot)
            case Terminating(ending):
                return self._sync_terminating(snapshot, ending)
            case Terminated(ending) if ending.removed:
                return self._sync_terminated(snapshot)
        return None

    def _sync_pod(self, snapshot: Snapshot) -> Strand[None]:
        began = self._context.now
        finished = yield from self._sync.run(snapshot)
        if finished:
            self.state = Terminating(Ending(termination_grace(self.pod, None)))
            self._context.sync_requested = True
        self.synced_ns.append(self._context.now - began)

    def _sync_terminating(self, snapshot: Snapshot, ending: Ending) -> Strand[None]:
        context = self._context
        self.waits.clear()
        self._sync.held_until_ns = None
        self._publishing.publish(snapshot, terminal=False, terminating=True)
        yield from kill_pod(context, self._killing, snapshot, None if ending.at_once else ending.grace)
        if context.failed or context.snapshot.running():
            # The runtime says it killed them and shows them running: look again rather than believe either.
            context.failed = True
            return
        context.out.append(StopProbing())
        self._publishing.publish(context.snapshot, terminal=True, terminating=True)
        assert isinstance(self.state, Terminating), "only this programme leaves the state"
        self.state = Terminated(self.state.ending)
        context.sync_requested = self.state.ending.removed

    def _sync_terminated(self, snapshot: Snapshot) -> Strand[None]:
        yield from remove_pod(self._context, snapshot)
        if not self._context.failed:
            self.state = Gone()
            self._context.out.append(Forget())

    # The one deadline.

    def _arm(self) -> None:
        """Arm the earliest deadline: of a hook, of a turn in the programme, or of the idle pod's next sync."""
        deadline = min([at for at in self._deadlines() if at is not None], default=None)
        if deadline != self._armed:
            self._armed = deadline
            self._context.out.append(Arm(deadline))

    def _deadlines(self) -> list[int | None]:
        programme = self.programme
        if isinstance(self.state, Gone):
            return []
        if isinstance(programme, Running):
            return [self._hooks.deadline_ns, programme.strands.deadline_ns]
        if isinstance(programme, Idle):
            of_pod = self._deadline.due_ns if isinstance(self.state, Syncing) else None
            return [self._hooks.deadline_ns, programme.look_at_ns, of_pod]
        return [self._hooks.deadline_ns]
