"""What the engine gets of a pod (``sync_pod``): the runtime's word on containers, the kubelet's on the pod's phase."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from probelet.agent.rules.api_pod import ApiContainer, ApiPod
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.protocol.actions import Publish
from probelet.policy.status.container_status import ContainerStatus, container_statuses
from probelet.spec.model.pod import Pod, PodPhase


def published(
    pod: Pod,
    seen: Snapshot,
    api: ApiPod | None,
    before: Mapping[str, ContainerStatus],
    *,
    pod_ip: str,
    terminating: bool,
) -> Publish:
    """The status of a pod whose begun instances are in ``seen``; ``before`` are the statuses of the last one."""
    statuses = container_statuses(pod, seen, {}, before)
    return Publish(_phase(seen, api), pod_ip, statuses, terminating)


def first_published(publish: Publish, known: Collection[str]) -> Publish:
    """The first status of a pod: a running container is in it only if the journal knows its ID.

    UpdatePodStatus takes a container without a worker for its startup probe for started (kubelet
    prober_manager.go:isContainerStarted, 1.36), and makes the workers later. So a container that no journal remembers
    gets its worker first; else it would be started, and ready, before its startup probe has passed
    (kubernetes#142305).
    """
    return replace(publish, containers={name: _hidden(row, known) for name, row in publish.containers.items()})


def with_reasons(statuses: Mapping[str, ContainerStatus], api: ApiPod | None) -> dict[str, ContainerStatus]:
    """The statuses with the kubelet's reasons for waiting, such as CrashLoopBackOff: only it knows them."""
    told: Mapping[str, ApiContainer] = {} if api is None else api.containers
    return {name: _explained(row, told.get(name)) for name, row in statuses.items()}


def _phase(seen: Snapshot, api: ApiPod | None) -> PodPhase:
    if api is not None and api.phase != "Unknown":
        return api.phase
    return "Running" if any(record.state is State.RUNNING for record in seen.containers) else "Pending"


def _hidden(row: ContainerStatus, known: Collection[str]) -> ContainerStatus:
    if row.state != "running" or row.container_id in known:
        return row
    return ContainerStatus(row.name, row.kind)


def _explained(row: ContainerStatus, told: ApiContainer | None) -> ContainerStatus:
    if told is None or told.state != "waiting" or row.state == "running" or not told.reason:
        return row
    return replace(row, state="waiting", reason=told.reason, message=told.message, exit_code=None)
