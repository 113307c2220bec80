"""The parts of a container's and a sandbox's configuration that only Linux has."""

from probelet.node.effects.linux.host import Host
from probelet.node.effects.linux.resources import container_resources
from probelet.node.effects.linux.run_as import ImageUser
from probelet.node.effects.linux.security import container_security, sandbox_security, sysctls
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


def container_linux(pod: Pod, container: Container, host: Host, user: ImageUser) -> api_pb2.LinuxContainerConfig:
    """Resources and security context of a container whose image has ``user``."""
    return api_pb2.LinuxContainerConfig(
        security_context=container_security(pod, container, host, user),
        resources=container_resources(pod, container, host),
    )


def sandbox_linux(pod: Pod) -> api_pb2.LinuxPodSandboxConfig:
    """Security context and kernel parameters of a sandbox."""
    return api_pb2.LinuxPodSandboxConfig(security_context=sandbox_security(pod), sysctls=sysctls(pod))
