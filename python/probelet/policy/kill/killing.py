"""How containers are killed: kubelet kuberuntime_container.go:killContainer and its callers, 1.36.

A kill writes the event, runs the preStop hook inside the grace, waits until the containers that must end earlier have
ended, and then calls StopContainer with the rest of the grace, at least the minimum.
"""

from probelet.policy import messages
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.kill.termination_order import TerminationOrder
from probelet.policy.protocol.effects import KillContainer, Outcome
from probelet.policy.rules.grace import Grace, KillReason, find_container
from probelet.policy.rules.kind import has_sidecar
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.hook import Hook, PreStopHooks
from probelet.policy.strands.strand import Branches, Strand, Turn, call
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND


class Killing:
    """Strands that kill containers of one pod."""

    def __init__(self, context: PodContext, hooks: PreStopHooks) -> None:
        self._context = context
        self._hooks = hooks

    def kill(
        self,
        container: Container,
        container_id: str,
        reason: KillReason,
        grace: Grace,
        message: str,
        order: TerminationOrder | None = None,
    ) -> Strand[Outcome]:
        """Kill one container. With a grace of 0 no hook runs, and the kill waits for no other container."""
        name = container.name
        self._context.record("Normal", messages.KILLING, message, name)
        seconds = grace.seconds
        pre_stop = container.lifecycle.pre_stop if container.lifecycle is not None else None
        if pre_stop is not None and seconds > 0:
            hook = Hook(container, container_id, "preStop", pre_stop, seconds)
            seconds -= yield from self._hooks.wait(hook, seconds)
        if order is not None and seconds > 0:
            begun = self._context.now
            yield Turn(lambda: order.is_turn(name), begun + seconds * SECOND)
            seconds -= (self._context.now - begun) // SECOND
        left = Grace(seconds, grace.source).asked_of_runtime
        outcome = yield from self._stop(KillContainer(name, container_id, reason, left, grace.source))
        if not outcome.error and order is not None:
            order.terminated(name)
        return outcome

    def kill_all(self, running: tuple[ContainerRecord, ...], grace: Grace) -> Strand[list[Outcome]]:
        """Kill these containers at the same time, sidecars in their order (killContainersWithSyncResult)."""
        pod = self._context.pod
        order = TerminationOrder(pod, (record.name for record in running)) if has_sidecar(pod) else None
        outcomes: list[Outcome] = yield Branches(
            tuple(
                self.kill(
                    _container(pod, record.name),
                    record.id,
                    KillReason.UNKNOWN,
                    grace,
                    messages.stopping(record.name),
                    order,
                )
                for record in running
            )
        )
        return outcomes

    def kill_at_once(self, running: tuple[ContainerRecord, ...]) -> Strand[list[Outcome]]:
        """Kill these containers with no grace at all, below the kubelet's minimum: an operator asked twice."""
        for record in running:
            self._context.record("Normal", messages.KILLING, messages.stopping(record.name), record.name)
        outcomes: list[Outcome] = yield Branches(
            tuple(
                self._stop(KillContainer(record.name, record.id, KillReason.UNKNOWN, 0, "override"))
                for record in running
            )
        )
        return outcomes

    def _stop(self, effect: KillContainer) -> Strand[Outcome]:
        (outcome,) = yield from call(effect)
        if not outcome.error:
            self._hooks.forget(effect.container_id)
        return outcome


def _container(pod: Pod, name: str) -> Container:
    """The container of that name; an empty one, without hooks, for a name that the pod does not have.

    Such a container belongs to another pod that had this UID. The kubelet refuses to kill it, so its pod never ends.
    """
    try:
        return find_container(pod, name)
    except KeyError:
        return Container(name=name)
