"""The restart rule RestartAllContainers (KEP-5532, kubelet 1.36): every container of a pod is removed, then the pod
starts from its beginning in the sandbox it has.

Kubelet pkg/kubelet/container/helpers.go:ShouldAllContainersRestart, status/generate.go and
kuberuntime_manager.go:getContainersToReset.
"""

import msgspec

from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.rules.kind import containers
from probelet.policy.rules.restart import restart_spec
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


class Reset(msgspec.Struct, frozen=True):
    """A container instance to remove; ``kill`` it first unless it has ended."""

    container: Container
    record: ContainerRecord
    kill: bool


def restart_wanted(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether a container has exited with a code for which its rule restarts all containers."""
    return any(
        restart_spec(pod, container).restarts_all(record.exit_code)
        for _, container in containers(pod)
        if (record := snapshot.newest(container.name)) is not None and record.state is State.EXITED
    )


def is_cleaned_up(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether the runtime has no container of the pod any more."""
    return all(snapshot.newest(container.name) is None for _, container in containers(pod))


def containers_to_reset(pod: Pod, snapshot: Snapshot) -> list[Reset]:
    """Every instance of every container, in the order of removal; containers whose exit is the reason come last."""
    resets = _resets(pod.spec.containers, snapshot) + _resets(pod.spec.init_containers, snapshot)
    return sorted(resets, key=lambda reset: _is_source(pod, reset))


def _resets(wanted: list[Container], snapshot: Snapshot) -> list[Reset]:
    return [
        Reset(container, record, record.state not in (State.ENDED, State.EXITED))
        for container in wanted
        for record in snapshot.containers
        if record.name == container.name
    ]


def _is_source(pod: Pod, reset: Reset) -> bool:
    has_exited = reset.record.state is State.EXITED
    return has_exited and restart_spec(pod, reset.container).restarts_all(reset.record.exit_code)
