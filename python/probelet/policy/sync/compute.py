"""Computes the actions of one sync: kubelet kuberuntime_manager.go:computePodActions, 1.36, as pure functions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.rules.grace import KillReason
from probelet.policy.rules.restart import definition, restart_spec, should_start
from probelet.policy.rules.restart_all import containers_to_reset
from probelet.policy.sync.initial import compute_init_actions
from probelet.policy.sync.plan import PodActions, Victim
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

ATTEMPTS: Final = 2**32
"""The attempt of a sandbox is an uint32 in CRI; in the kubelet it wraps around."""


def compute_pod_actions(
    pod: Pod,
    snapshot: Snapshot,
    probes: ProbeState,
    *,
    restarting_all: bool = False,
    to_replace: Mapping[str, str] = MappingProxyType({}),
) -> PodActions:
    """The actions that bring the runtime of this snapshot to what the pod asks for.

    ``restarting_all``: every container gets removed first, whatever its probes say. ``to_replace``: healthy instances
    to restart, by id, with their Killing events.
    """
    actions = sandbox_actions(pod, snapshot)
    if restarting_all:
        actions.reset = containers_to_reset(pod, snapshot)
        return actions
    if actions.kill_pod:
        if actions.create_sandbox:
            _start_from_nothing(pod, snapshot, actions)
        return actions
    if not compute_init_actions(pod, snapshot, probes, actions, to_replace) or actions.kill_pod:
        # Initialisation failed or goes on, and the regular containers come after it.
        return actions
    kept = 0
    for container in pod.spec.containers:
        record = snapshot.newest(container.name)
        if record is not None and record.state is State.ENDED:
            # Its exit decides whether it runs again, so until that is known the container keeps its pod.
            kept += 1
        elif record is None or record.state is not State.RUNNING:
            _consider_start(pod, snapshot, container, record, actions)
        elif (victim := _victim(container, record, probes, to_replace)) is None:
            kept += 1
        else:
            restart = victim.reason is KillReason.DEFINITION or restart_spec(pod, container).after_kill()
            if restart:
                victim = Victim(record, victim.reason, messages.will_be_restarted(victim.message))
                actions.start.append(container)
            actions.kill.append(victim)
    if kept == 0 and not actions.start:
        # No regular container is left to run: the pod ends, and no sidecar keeps it alive.
        actions.kill_pod = True
        actions.start_init.clear()
    return actions


def sandbox_actions(pod: Pod, snapshot: Snapshot) -> PodActions:
    """Whether the pod needs a (new) sandbox (kubelet kuberuntime/util/util.go:PodSandboxChanged, 1.36)."""
    if not snapshot.sandboxes:
        return PodActions(kill_pod=True, create_sandbox=True)
    newest = snapshot.sandboxes[0]
    ready = sum(sandbox.ready for sandbox in snapshot.sandboxes)
    lost_address = not pod.spec.host_network and newest.ip == ""
    if ready > 1 or not newest.ready or lost_address:
        attempt = (newest.attempt + 1) % ATTEMPTS
        return PodActions(kill_pod=True, create_sandbox=True, sandbox_id=newest.id, attempt=attempt)
    return PodActions(sandbox_id=newest.id, attempt=newest.attempt)


def _start_from_nothing(pod: Pod, snapshot: Snapshot, actions: PodActions) -> None:
    """A new sandbox starts the pod from its initial state, unless the pod has completed, or may have: a container has
    ended and its exit code is not known yet."""
    newest = [record for container in pod.spec.containers if (record := snapshot.newest(container.name)) is not None]
    if any(record.state is State.ENDED for record in newest):
        actions.create_sandbox = False
        return
    if pod.spec.restart_policy == "Never" and actions.attempt != 0 and snapshot.containers:
        actions.create_sandbox = False
        return
    wanted = [container for container in pod.spec.containers if not _done(pod, container, snapshot)]
    if not wanted and newest:
        actions.create_sandbox = False
    elif pod.spec.init_containers:
        actions.start_init = [pod.spec.init_containers[0]]
    else:
        actions.start = wanted


def _done(pod: Pod, container: Container, snapshot: Snapshot) -> bool:
    record = snapshot.newest(container.name)
    succeeded = record is not None and record.state is State.EXITED and record.exit_code == 0
    return succeeded and restart_spec(pod, container).policy == "OnFailure"


def _consider_start(
    pod: Pod, snapshot: Snapshot, container: Container, record: ContainerRecord | None, actions: PodActions
) -> None:
    if not should_start(pod, container, snapshot):
        return
    actions.start.append(container)
    if record is not None and record.state is State.UNKNOWN:
        # The container may run after all, and two instances of one container must never run at once.
        actions.kill.append(Victim(record, KillReason.UNKNOWN, messages.unknown_state(init=False)))


def _victim(
    container: Container, record: ContainerRecord, probes: ProbeState, to_replace: Mapping[str, str]
) -> Victim | None:
    """The first reason to kill a running container, without the restart suffix; None if it stays."""
    if record.definition != definition(container):
        return Victim(record, KillReason.DEFINITION, messages.definition_changed(container.name, init=False))
    if probes.result("liveness", record.id) == "Failure":
        return Victim(record, KillReason.LIVENESS, messages.failed_probe(container.name, "liveness", init=False))
    if probes.result("startup", record.id) == "Failure":
        return Victim(record, KillReason.STARTUP, messages.failed_probe(container.name, "startup", init=False))
    if record.id in to_replace:
        return Victim(record, KillReason.MAX_AGE, to_replace[record.id])
    return None
