"""Which container the kernel kills first when the machine runs out of memory.

Kubelet pkg/kubelet/qos/policy.go:GetContainerOOMScoreAdjust and pkg/apis/core/v1/helper/qos/qos.go, 1.36.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any, Final, Literal, TypeAlias

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.text.quantity import parse_quantity

GUARANTEED: Final = -997
BEST_EFFORT: Final = 1000
NODE_CRITICAL: Final = "system-node-critical"

QosClass: TypeAlias = Literal["Guaranteed", "Burstable", "BestEffort"]

_COMPUTE: Final = ("cpu", "memory")


def oom_score_adj(pod: Pod, container: Container, memory_bytes: int) -> int:
    """The adjustment of a container's score; ``memory_bytes`` is the machine's memory, 0 if it is unknown."""
    # A static pod is critical; of all critical pods only those of this class go last.
    if pod.spec.priority_class_name == NODE_CRITICAL:
        return GUARANTEED
    match qos_class(pod):
        case "Guaranteed":
            return GUARANTEED
        case "BestEffort":
            return BEST_EFFORT
    request = _memory_request(container)
    if container.restart_policy == "Always" and any(init.name == container.name for init in pod.spec.init_containers):
        # A sidecar outlives the containers that it serves.
        request = max(request, min(_memory_request(regular) for regular in pod.spec.containers))
    score = 1000 - (1000 * request // memory_bytes if memory_bytes else 0)
    return min(max(score, 1000 + GUARANTEED), BEST_EFFORT - 1)


def qos_class(pod: Pod) -> QosClass:
    """Guaranteed: every container has limits of CPU and memory, and requests no less. BestEffort: none has either."""
    requests: dict[str, Fraction] = defaultdict(Fraction)
    limits: dict[str, Fraction] = defaultdict(Fraction)
    limited = True
    for container in [*pod.spec.containers, *pod.spec.init_containers]:
        own_limits = dict(_positive(_limits(container)))
        limited = limited and len(own_limits) == len(_COMPUTE)
        for total, amounts in ((requests, dict(_positive(_requests(container)))), (limits, own_limits)):
            for name, amount in amounts.items():
                total[name] += amount
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if limited and requests == limits else "Burstable"


def _limits(container: Container) -> Mapping[str, Any]:
    return container.resources.limits if container.resources is not None else {}


def _requests(container: Container) -> Mapping[str, Any]:
    """A request that is not set is the limit, as the API server defaults it."""
    return {**_limits(container), **(container.resources.requests if container.resources is not None else {})}


def _positive(amounts: Mapping[str, Any]) -> Iterator[tuple[str, Fraction]]:
    for name in _COMPUTE:
        amount = parse_quantity(amounts[name]) if name in amounts else Fraction()
        if amount > 0:
            yield name, amount


def _memory_request(container: Container) -> int:
    """In bytes, rounded up as ``Quantity.Value`` does."""
    return ceil(parse_quantity(_requests(container).get("memory", 0)))
