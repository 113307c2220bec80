"""One pod of a node in virtual time: hands inputs to its machine and carries out the machine's actions in order."""

from collections.abc import Callable

import msgspec

from probelet.policy.glue.sync_requests import SyncRequests
from probelet.policy.machine.pod_machine import PodMachine
from probelet.policy.node.kill_gate import KillGate
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.actions import (
    Action,
    Arm,
    Cancel,
    Define,
    Forget,
    Perform,
    Publish,
    Recheck,
    Record,
    StopProbing,
)
from probelet.policy.protocol.inputs import Due, Input, Observed, Performed, SyncRequested
from probelet.spec.model.pod import Pod
from probelet.virtual.agenda import Agenda, Entry
from probelet.virtual.effects import CANCELED, Effects
from probelet.virtual.prober import Prober
from probelet.virtual.runtime import PodRuntime
from probelet.virtual.workload import Workload


class NodeContext(msgspec.Struct, frozen=True):
    """The things that all pods of a node share.

    ``probe_grace``, ``images`` and ``kill_gate`` are as for ``PodMachine``; ``on_publish`` gets each pod status and
    ``on_record`` each event of a machine, with the pod's UID; ``on_forget`` gets the UID of a pod of which nothing is
    left.
    """

    agenda: Agenda
    prober: Prober
    gate: RestartGate
    workload: Workload
    probe_grace: bool = True
    images: bool = False
    kill_gate: KillGate | None = None
    on_publish: Callable[[str, Publish], None] | None = None
    on_record: Callable[[str, Record], None] | None = None
    on_forget: Callable[[str], None] | None = None


class VirtualPod:
    """A pod's machine, and the runtime's model of the pod. ``id_prefix`` begins the ids of its containers.

    ``runtime`` is the model of a pod that runs already, which a node agent finds when it is started again.
    """

    def __init__(self, pod: Pod, context: NodeContext, id_prefix: str, runtime: PodRuntime | None = None) -> None:
        self.pod = pod
        self.uid = pod.metadata.uid
        self.runtime = PodRuntime(id_prefix) if runtime is None else runtime
        self.machine = PodMachine(
            pod,
            context.gate,
            probe_grace=context.probe_grace,
            images=context.images,
            kill_gate=context.kill_gate,
        )
        self._context = context
        self._agenda = context.agenda
        self._effects = Effects(pod, self.runtime, context.workload, context.agenda, self._ended)
        self._deadline: Entry | None = None
        # The entry of each ticket that is not answered yet, with the action it belongs to.
        self._in_flight: dict[int, tuple[Entry, Perform]] = {}
        self._sync_requests = SyncRequests()
        # Set once the node agent has ended.
        self._on_change: Callable[[], None] | None = None
        context.prober.add(pod, self.request_sync)

    @property
    def has_deadline(self) -> bool:
        """Whether the machine has armed a deadline that has not come yet."""
        return self._deadline is not None

    def observe(self) -> None:
        """Show the machine the runtime as it is; the first look starts the pod."""
        self.handle(Observed(self.runtime.snapshot))

    def leave(self, on_change: Callable[[], None]) -> None:
        """The node agent ends. Calls under way finish in the runtime and containers run on; the machine learns no more.
        ``on_change`` is called when something of it has changed the runtime, for the agent that comes next."""
        self._on_change = on_change
        self._arm(None)

    def exit(self, container_id: str, code: int, reason: str = "") -> None:
        """End a container by itself; nothing happens if it does not run."""
        running = self.runtime.running(container_id)
        if running is not None and self.runtime.exit(container_id, code, self._agenda.now, reason):
            self._context.workload.ended(self.pod, running.name)
            self.observe()

    def request_sync(self) -> None:
        """A probe result changed: sync now, or as soon as the pod may."""
        now = self._agenda.now
        moment = self._sync_requests.ask(now)
        if moment == now:
            self.handle(SyncRequested())
        elif moment is not None:
            self._agenda.at(moment, self._delayed_sync)

    def handle(self, given: Input) -> list[Action]:
        """Hand one input to the machine and carry out its actions; returns them."""
        if self._on_change is not None:
            self._on_change()
            return []
        probes = self._context.prober.probe_state(self.pod, self.machine.latest(given))
        actions = self.machine.handle(self._agenda.now, given, probes)
        for action in actions:
            self._do(action)
        return actions

    def _ended(self, name: str, container_id: str) -> None:
        # A workload knows nothing of a pod of which nothing is left, whose containers would have ended now.
        if self.runtime.running(container_id) is not None:
            self.exit(container_id, self._context.workload.exit_code(self.pod, name))

    def _delayed_sync(self) -> None:
        self._sync_requests.begin(self._agenda.now)
        self.handle(SyncRequested())

    def _do(self, action: Action) -> None:
        match action:
            case Perform():
                takes = max(self._effects.takes_ns(effect) for effect in action.effects)
                entry = self._agenda.at(self._agenda.now + takes, lambda: self._perform(action))
                self._in_flight[action.ticket] = (entry, action)
            case Publish():
                self._publish(action)
            case Record():
                if self._context.on_record is not None:
                    self._context.on_record(self.uid, action)
            case Define(pod, live):
                self._define(pod, live=live)
            case Arm(deadline):
                self._arm(deadline)
            case Cancel(ticket):
                self._cancel(ticket)
            case Recheck(container):
                self._context.prober.recheck(self.uid, container)
            case StopProbing():
                self._context.prober.stop(self.uid)
            case Forget():
                self._context.gate.forget(self.pod, self._agenda.now)
                if self._context.on_forget is not None:
                    self._context.on_forget(self.uid)

    def _define(self, pod: Pod, *, live: bool) -> None:
        self.pod = pod
        self._effects.pod = pod
        self._context.prober.define(pod)
        if live:
            self._context.prober.change(self.uid)

    def _publish(self, publish: Publish) -> None:
        self._context.prober.publish(self.uid, publish)
        if self._context.on_publish is not None:
            self._context.on_publish(self.uid, publish)

    def _perform(self, perform: Perform) -> None:
        outcomes = tuple(self._effects.perform(effect) for effect in perform.effects)
        del self._in_flight[perform.ticket]
        self.handle(Performed(perform.ticket, outcomes, self.runtime.snapshot))

    def _cancel(self, ticket: int) -> None:
        """The effects do not happen; the machine still gets its answer, after everything that is due already."""
        entry, perform = self._in_flight.pop(ticket)
        entry.cancel()
        outcomes = tuple(CANCELED for _ in perform.effects)
        self._agenda.at(self._agenda.now, lambda: self.handle(Performed(ticket, outcomes, self.runtime.snapshot)))

    def _arm(self, deadline: int | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if deadline is not None:
            self._deadline = self._agenda.at(deadline, self._due)

    def _due(self) -> None:
        self._deadline = None
        self.handle(Due())
