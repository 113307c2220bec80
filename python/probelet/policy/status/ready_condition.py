"""The condition Ready of a pod (kubelet status/generate.go:GeneratePodReadyCondition, 1.36)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from probelet.policy.rules.kind import containers
from probelet.spec.model.pod import Pod
from probelet.spec.text.golang import go_quote

CONTAINERS_NOT_READY: Final = "ContainersNotReady"
POD_COMPLETED: Final = "PodCompleted"
POD_FAILED: Final = "PodFailed"
READINESS_GATES_NOT_READY: Final = "ReadinessGatesNotReady"
UNKNOWN_CONTAINER_STATUSES: Final = "UnknownContainerStatuses"

_ENDED: Final = {"Failed": POD_FAILED, "Succeeded": POD_COMPLETED}


class ReadyCondition(msgspec.Struct, frozen=True):
    """``reason`` and ``message`` are empty while the pod is ready."""

    ready: bool
    reason: str = ""
    message: str = ""


def ready_condition(pod: Pod, status: Mapping[str, Any]) -> ReadyCondition:
    """The condition of a pod with this status of the prober, empty before the first one."""
    if not status.get("ready"):
        return _unready(pod, status)
    if messages := _unmet_gates(pod):
        return ReadyCondition(False, READINESS_GATES_NOT_READY, ", ".join(messages))
    return ReadyCondition(True)


def _unready(pod: Pod, status: Mapping[str, Any]) -> ReadyCondition:
    """Why the pod's containers are not ready (``GenerateContainersReadyCondition``)."""
    if not status:
        return ReadyCondition(False, UNKNOWN_CONTAINER_STATUSES)
    if ended := _ENDED.get(status["phase"]):
        return ReadyCondition(False, ended)
    rows = {row["name"]: row for key in ("containers", "init_containers") for row in status.get(key, ())}
    sidecars = [container.name for kind, container in containers(pod) if kind == "sidecar"]
    names = [*sidecars, *(container.name for container in pod.spec.containers)]
    unready = " ".join(name for name in names if not rows.get(name, {}).get("ready"))
    return ReadyCondition(False, CONTAINERS_NOT_READY, f"containers with unready status: [{unready}]")


def _unmet_gates(pod: Pod) -> list[str]:
    """A message for each readiness gate that is not True. Without an API server a manifest's ``status.conditions`` are
    the only ones that are not the kubelet's own."""
    messages = []
    for gate in pod.spec.readiness_gates:
        conditions = pod.status.conditions if pod.status is not None else []
        name = go_quote(gate.condition_type)
        found = next((condition for condition in conditions if condition.type == gate.condition_type), None)
        if found is None:
            messages.append(f"corresponding condition of pod readiness gate {name} does not exist.")
        elif found.status != "True":
            messages.append(f'the status of pod readiness gate {name} is not "True", but {found.status}')
    return messages
