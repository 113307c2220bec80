"""Publishes the statuses of one pod's containers and its phase, made from a snapshot."""

from collections.abc import Mapping

from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.machine.active_deadline import ActiveDeadline
from probelet.policy.protocol.actions import Publish
from probelet.policy.rules.restart_all import is_cleaned_up, restart_wanted
from probelet.policy.status.container_status import ContainerStatus, StartError, container_statuses
from probelet.policy.status.phase import pod_phase
from probelet.policy.strands.context import PodContext
from probelet.spec.model.pod import Pod, PodPhase


class Publishing:
    """Each status builds on the one before, as in the kubelet. ``start_errors`` changes with every start."""

    def __init__(self, context: PodContext, deadline: ActiveDeadline, start_errors: Mapping[str, StartError]) -> None:
        self.phase: PodPhase = "Pending"
        self.statuses: dict[str, ContainerStatus] = {}
        self.restarting_all = False
        """Whether all containers get removed to start anew: from the exit that asks for it until the last is removed.

        The kubelet keeps this in the pod's condition AllContainersRestarting, since the exit goes with its container.
        """
        self._context = context
        self._deadline = deadline
        self._start_errors = start_errors

    def publish(self, snapshot: Snapshot, *, terminal: bool, terminating: bool = False) -> PodPhase:
        """Publish the pod as this snapshot shows it; ``terminal``: nothing of it starts again, whatever its policy."""
        context, pod = self._context, self._context.pod
        restarting_all = self.restarting_all or restart_wanted(pod, snapshot)
        self.statuses = container_statuses(
            pod, snapshot, self._start_errors, self.statuses, restarting_all=restarting_all
        )
        self.phase = pod_phase(
            pod,
            self.statuses,
            terminal=terminal,
            initialized=_regular_created(pod, snapshot),
            started=context.probes.started,
        )
        if self._deadline.exceeded:
            self.phase = "Failed"
        over = self.phase in ("Succeeded", "Failed")
        self.restarting_all = restarting_all and not over and not is_cleaned_up(pod, snapshot)
        context.out.append(Publish(self.phase, snapshot.pod_ip, self.statuses, terminating or over))
        return self.phase


def _regular_created(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether the sandbox in use has a regular container (kubelet HasAnyActiveRegularContainerStarted, 1.36)."""
    if not snapshot.sandboxes or not snapshot.sandboxes[0].ready:
        return False
    names = {container.name for container in pod.spec.containers}
    active = snapshot.sandboxes[0].id
    return any(record.sandbox_id == active and record.name in names for record in snapshot.containers)
