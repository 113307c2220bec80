"""The facts of a pod for the engine (``sync_pod``): the runtime's word on containers, the kubelet's on the pod's
phase."""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec.structs import replace

from probelet.beside.pods.api_pod import ApiContainer, ApiPod
from probelet.beside.pods.instances import NO_INSTANCES, Instances
from probelet.policy.facts.probe_state import ResultName
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.glue.status_layer import Begun
from probelet.policy.protocol.actions import Publish
from probelet.policy.rules.kind import containers
from probelet.policy.status.container_status import ContainerStatus, container_statuses
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod, PodPhase
from probelet.spec.model.probe import ProbeType

Known: TypeAlias = Mapping[tuple[ProbeType, str], ResultName | None]
"""The results that the journal of an earlier agent has, by type and container ID; None for a probe without a result."""


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


def begun(
    pod: Pod, statuses: Mapping[str, ContainerStatus], known: Known, written: Instances = NO_INSTANCES
) -> dict[str, Begun]:
    """Which containers have started and are ready in the first status of a pod: those with the results for it. About a
    probe of which the journal has none, the condition decides; ``written`` are the instances that it names.

    UpdatePodStatus takes a container without a worker for its startup probe for started, and one without a worker for
    its readiness probe for ready (kubelet prober_manager.go, 1.36); a kubelet makes the workers later, and after its
    restart a container is ready before its startup probe has passed (kubernetes#142305).
    """
    return {
        container.name: _begun(container, statuses.get(container.name), known, written)
        for _, container in containers(pod)
    }


def with_reasons(statuses: Mapping[str, ContainerStatus], api: ApiPod | None) -> dict[str, ContainerStatus]:
    """The statuses with the kubelet's reasons for waiting, such as CrashLoopBackOff: only it knows them."""
    told: Mapping[str, ApiContainer] = {} if api is None else api.containers
    return {name: _explained(row, told.get(name)) for name, row in statuses.items()}


def _phase(seen: Snapshot, api: ApiPod | None) -> PodPhase:
    if api is not None and api.phase != "Unknown":
        return api.phase
    return "Running" if any(record.state is State.RUNNING for record in seen.containers) else "Pending"


def _begun(container: Container, row: ContainerStatus | None, known: Known, written: Instances) -> Begun:
    if row is None or row.state != "running":
        return Begun(started=False, ready=row is not None and row.kind == "init" and row.exit_code == 0)

    def has_passed(probe_type: ProbeType, *, is_written: bool) -> bool:
        if container.probe(probe_type) is None:
            return True
        result = known.get((probe_type, row.container_id))
        return is_written if result is None else result == "Success"

    started = has_passed("startup", is_written=written.has_started(container.name, row.container_id))
    ready = has_passed("readiness", is_written=written.is_ready(container.name, row.container_id))
    return Begun(started=started, ready=started and row.kind != "init" and ready)


def _explained(row: ContainerStatus, told: ApiContainer | None) -> ContainerStatus:
    if told is None or told.state != "waiting" or row.state == "running" or not told.reason:
        return row
    return replace(row, state="waiting", reason=told.reason, message=told.message, exit_code=None)
