"""The kill of a container for a request, by the policy's strand: Killing event, preStop hook, the rest of the grace."""

from collections.abc import Callable
from itertools import count
from typing import Final

from probelet.policy.kill.killing import Killing
from probelet.policy.protocol.actions import Record
from probelet.policy.protocol.effects import Effect, KillContainer, Outcome
from probelet.policy.rules.grace import Grace, KillReason, find_container
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.hook import PreStopHooks
from probelet.policy.strands.strand import Strand, Strands
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.state import ClusterState
from probelet.virtual.runtime import KILLED

RETRY_NS: Final = 10 * SECOND
"""When a stop that has ended nothing is repeated, as ``agent.kill`` does."""


class RequestKill:
    """One kill beside the kubelet, from now on. ``on_end`` is called once the instance has ended. Hooks that run
    commands or send requests take no time, as everywhere in a virtual cluster."""

    def __init__(
        self,
        world: ClusterState,
        pod: ClusterPod,
        container: str,
        id: str,
        grace: Grace,
        message: str,
        on_end: Callable[[], None],
    ) -> None:
        self._world = world
        self._pod = pod
        self._on_end = on_end
        self._tickets = count(1)
        self._context = PodContext(pod.pod)
        self._strands = Strands(self._perform)
        killing = Killing(self._context, PreStopHooks(self._context, self._strands))
        definition = find_container(pod.pod, container)
        self._context.now = world.now
        self._strands.begin(self._run(killing.kill(definition, id, KillReason.RECREATE, grace, message)))
        self._advance()

    def _run(self, kill: Strand[Outcome]) -> Strand[None]:
        yield from kill
        self._on_end()

    def _advance(self) -> None:
        agenda = self._world.agenda
        self._context.now = agenda.now
        self._strands.resume(agenda.now)
        for action in self._context.out:
            if isinstance(action, Record):
                self._world.record(self._pod.uid, action)
        self._context.out.clear()
        if (deadline := self._strands.deadline_ns) is not None:
            agenda.at(deadline, self._advance)

    def _perform(self, effects: tuple[Effect, ...]) -> int:
        ticket, agenda = next(self._tickets), self._world.agenda
        takes = max(self._takes_ns(effect) for effect in effects)
        agenda.at(agenda.now + takes, lambda: self._performed(ticket, effects))
        return ticket

    def _takes_ns(self, effect: Effect) -> int:
        if not isinstance(effect, KillContainer):
            return 0
        return min(self._world.containers.stop_ns(self._pod.uid, effect.name), effect.grace_seconds * SECOND)

    def _performed(self, ticket: int, effects: tuple[Effect, ...]) -> None:
        agenda, pod = self._world.agenda, self._pod
        for effect in effects:
            if isinstance(effect, KillContainer) and not pod.is_gone:
                pod.exit(effect.container_id, KILLED)
                if pod.runtime.running(effect.container_id) is not None:
                    agenda.at(agenda.now + RETRY_NS, lambda: self._performed(ticket, effects))
                    return
        self._context.now = agenda.now
        self._strands.answer(ticket, tuple(Outcome() for _ in effects))
        self._advance()
