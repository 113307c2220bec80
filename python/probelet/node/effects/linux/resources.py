"""Limits of containers (kubelet kuberuntime_container_linux.go and pkg/kubelet/cm/helpers_linux.go, 1.36)."""

from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from typing import Any, Final

from probelet.node.effects.linux.host import Host, size_text
from probelet.node.effects.linux.oom_score import oom_score_adj
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.resources import ResourceRequirements
from probelet.spec.text.quantity import parse_quantity

CPU_PERIOD_US: Final = 100_000
CPU_QUOTA_US_MIN: Final = 1_000
CPU_SHARES_MIN: Final = 2
CPU_SHARES_MAX: Final = 262_144
SHARES_PER_CPU: Final = 1024
INT64_MAX: Final = 2**63 - 1
"""The largest number in a message; a limit above it is no limit."""

HUGE_PAGES: Final = "hugepages-"


def container_resources(pod: Pod, container: Container, host: Host) -> api_pb2.LinuxContainerResources:
    """The limits for the kernel. A request that is not set is the limit, as the API server defaults it.

    Without a request and a limit the runtime's own share stays: the kubelet's smallest share is meant for its own tree
    of cgroups.
    """
    resources = container.resources or ResourceRequirements()
    limit = _milli(resources.limits.get("cpu"))
    asked = _milli(resources.requests.get("cpu", resources.limits.get("cpu")))
    memory = resources.limits.get("memory")
    shares = max(CPU_SHARES_MIN, min(asked * SHARES_PER_CPU // 1000, CPU_SHARES_MAX)) if asked else 0
    return api_pb2.LinuxContainerResources(
        cpu_shares=shares,
        cpu_period=CPU_PERIOD_US if limit else 0,
        cpu_quota=min(max(CPU_QUOTA_US_MIN, limit * CPU_PERIOD_US // 1000), INT64_MAX) if limit else 0,
        memory_limit_in_bytes=0 if memory is None else _whole(memory),
        oom_score_adj=oom_score_adj(pod, container, host.memory_bytes),
        hugepage_limits=_huge_pages(resources, host),
    )


def _huge_pages(resources: ResourceRequirements, host: Host) -> Iterator[api_pb2.HugepageLimit]:
    """A limit for each size that the machine has: a container that asks for none gets none."""
    allowed = dict(_asked_huge_pages(resources))
    for size in host.huge_page_sizes:
        yield api_pb2.HugepageLimit(page_size=size, limit=allowed.get(size, 0))


def _asked_huge_pages(resources: ResourceRequirements) -> Iterator[tuple[str, int]]:
    for name, amount in resources.limits.items():
        if name.startswith(HUGE_PAGES):
            # A name that is no size asks for nothing, as for the kubelet.
            with suppress(ValueError):
                yield size_text(_whole(name.removeprefix(HUGE_PAGES))), _whole(amount)


def _whole(amount: Any) -> int:
    """Rounded up as ``Quantity.Value`` does: a limit below one byte must not become 0, which is no limit."""
    return min(ceil(parse_quantity(amount)), INT64_MAX)


def _milli(amount: Any) -> int:
    """Thousandths of a CPU, rounded up as ``Quantity.MilliValue`` does."""
    return 0 if amount is None else -int(-parse_quantity(amount) * 1000 // 1)
