"""Limits, users and privileges of containers and sandboxes.

Kubelet pkg/kubelet/kuberuntime/security_context.go, kuberuntime_container_linux.go and pkg/kubelet/cm/helpers_linux.go,
1.36.
"""

from typing import Any, Final

from probelet.cri.v1 import api_pb2
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.resources import ResourceRequirements
from probelet.spec.model.security_context import PodSecurityContext, SecurityContext
from probelet.spec.text.quantity import parse_quantity

CPU_PERIOD_US: Final = 100_000
CPU_QUOTA_US_MIN: Final = 1_000
CPU_SHARES_MIN: Final = 2
CPU_SHARES_MAX: Final = 262_144
SHARES_PER_CPU: Final = 1024
INT64_MAX: Final = 2**63 - 1
"""The largest number in a message; a limit above it is no limit."""


def container_linux(pod: Pod, container: Container) -> api_pb2.LinuxContainerConfig:
    """Resources and security context of a container."""
    of_pod = pod.spec.security_context or PodSecurityContext()
    own = container.security_context or SecurityContext()
    context = api_pb2.LinuxContainerSecurityContext(
        namespace_options=_namespaces(pod),
        privileged=own.privileged is True,
        readonly_rootfs=own.read_only_root_filesystem is True,
        no_new_privs=own.allow_privilege_escalation is False,
        supplemental_groups=_groups(of_pod),
        run_as_user=_optional(of_pod.run_as_user if own.run_as_user is None else own.run_as_user),
        run_as_group=_optional(of_pod.run_as_group if own.run_as_group is None else own.run_as_group),
    )
    if own.capabilities is not None:
        context.capabilities.add_capabilities.extend(own.capabilities.add)
        context.capabilities.drop_capabilities.extend(own.capabilities.drop)
    resources = _resources(container.resources) if container.resources is not None else None
    return api_pb2.LinuxContainerConfig(security_context=context, resources=resources)


def sandbox_linux(pod: Pod) -> api_pb2.LinuxPodSandboxConfig:
    """Security context of a sandbox; a sandbox with a privileged container has to be privileged itself."""
    of_pod = pod.spec.security_context or PodSecurityContext()
    contexts = (container.security_context for _, container in pod.spec.each_container())
    return api_pb2.LinuxPodSandboxConfig(
        security_context=api_pb2.LinuxSandboxSecurityContext(
            namespace_options=_namespaces(pod),
            privileged=any(context is not None and context.privileged is True for context in contexts),
            supplemental_groups=_groups(of_pod),
            run_as_user=_optional(of_pod.run_as_user),
            run_as_group=_optional(of_pod.run_as_group),
        )
    )


def _groups(context: PodSecurityContext) -> list[int]:
    return [*context.supplemental_groups, *([] if context.fs_group is None else [context.fs_group])]


def _optional(value: int | None) -> api_pb2.Int64Value | None:
    return None if value is None else api_pb2.Int64Value(value=value)


def _resources(resources: ResourceRequirements) -> api_pb2.LinuxContainerResources:
    """The limits for the kernel. A request that is not set is the limit, as the API server defaults it.

    Without a request and a limit the runtime's own share stays: the kubelet's smallest share is meant for its own tree
    of cgroups.
    """
    limit = _milli(resources.limits.get("cpu"))
    asked = _milli(resources.requests.get("cpu", resources.limits.get("cpu")))
    memory = resources.limits.get("memory")
    shares = max(CPU_SHARES_MIN, min(asked * SHARES_PER_CPU // 1000, CPU_SHARES_MAX)) if asked else 0
    return api_pb2.LinuxContainerResources(
        cpu_shares=shares,
        cpu_period=CPU_PERIOD_US if limit else 0,
        cpu_quota=min(max(CPU_QUOTA_US_MIN, limit * CPU_PERIOD_US // 1000), INT64_MAX) if limit else 0,
        memory_limit_in_bytes=0 if memory is None else min(int(parse_quantity(memory)), INT64_MAX),
    )


def _milli(amount: Any) -> int:
    """Thousandths of a CPU, rounded up as ``Quantity.MilliValue`` does."""
    return 0 if amount is None else -int(-parse_quantity(amount) * 1000 // 1)


def _namespaces(pod: Pod) -> api_pb2.NamespaceOption:
    # Containers share their processes only if the pod asks for it; the API's zero value would always share them.
    pid = api_pb2.POD if pod.spec.share_process_namespace else api_pb2.CONTAINER
    if pod.spec.host_pid is True:
        pid = api_pb2.NODE
    return api_pb2.NamespaceOption(
        network=api_pb2.NODE if pod.spec.host_network else api_pb2.POD,
        pid=pid,
        ipc=api_pb2.NODE if pod.spec.host_ipc is True else api_pb2.POD,
    )
