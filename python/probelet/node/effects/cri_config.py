"""Sandbox and container configurations for the runtime (kubelet kuberuntime_sandbox.go, 1.36)."""

from pathlib import Path, PurePosixPath

import msgspec

from probelet.base.logs.layout import log_directory_of, log_name
from probelet.node.effects.environment.place import Place
from probelet.node.effects.environment.references import bytes_of
from probelet.node.effects.environment.variables import environment, expanded
from probelet.node.effects.linux.config import container_linux, sandbox_linux
from probelet.node.effects.linux.host import Host
from probelet.node.effects.linux.run_as import ImageUser
from probelet.node.effects.mounts.hosts_file import PATH_INSIDE
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


def log_directory(pod: Pod) -> str:
    """The name of a pod's directory in the log root."""
    return log_directory_of(pod.metadata.namespace, pod.metadata.name, pod.metadata.uid)


def sandbox_config(pod: Pod, *, attempt: int, node: str, hostname: str, log_root: Path) -> api_pb2.PodSandboxConfig:
    """The configuration of one attempt's sandbox."""
    meta = pod.metadata
    return api_pb2.PodSandboxConfig(
        metadata=api_pb2.PodSandboxMetadata(name=meta.name, uid=meta.uid, namespace=meta.namespace, attempt=attempt),
        hostname=hostname,
        log_directory=str(log_root / log_directory(pod)),
        labels=labels.sandbox_labels(pod, node),
        annotations=meta.annotations,
        port_mappings=[
            api_pb2.PortMapping(
                protocol=port.protocol or "TCP",
                container_port=port.container_port,
                host_port=port.host_port,
                host_ip=port.host_ip,
            )
            for container in pod.spec.containers
            for port in container.ports
            if port.host_port
        ],
        linux=sandbox_linux(pod),
    )


class Instance(msgspec.Struct, frozen=True):
    """One instance of a container, beside what its manifest says.

    ``image_ref`` is the image service's name for the image; empty where there are no images. ``message_file``
    and ``hosts_file`` are its files on this machine for a termination message and for /etc/hosts, None without one.
    """

    restart_count: int
    image_ref: str
    user: ImageUser
    message_file: Path | None = None
    hosts_file: Path | None = None


def container_config(
    pod: Pod, container: Container, instance: Instance, place: Place, host: Host
) -> api_pb2.ContainerConfig:
    """The configuration of one instance of a container, expanded as the kubelet does it. Raises ContainerConfigError if
    a variable's source is not there."""
    restart_count = instance.restart_count
    variables = environment(pod, container, place)
    known = {**place.given, **variables}
    return api_pb2.ContainerConfig(
        metadata=api_pb2.ContainerMetadata(name=container.name, attempt=restart_count),
        image=api_pb2.ImageSpec(image=instance.image_ref or container.image, user_specified_image=container.image),
        command=expanded(container.command, known),
        args=expanded(container.args, known),
        working_dir=container.working_dir,
        envs=[api_pb2.KeyValue(key=name, value=bytes_of(value)) for name, value in variables.items()],
        labels=labels.container_labels(pod, container),
        annotations=labels.container_annotations(pod, container, restart_count),
        mounts=_mounts(container, instance, host),
        log_path=f"{container.name}/{log_name(restart_count)}",
        stdin=container.stdin,
        stdin_once=container.stdin_once,
        tty=container.tty,
        linux=container_linux(pod, container, host, instance.user),
    )


def _mounts(container: Container, instance: Instance, host: Host) -> list[api_pb2.Mount]:
    """Kubelet kubelet_pods.go:makeMounts and kuberuntime_container.go:makeMounts, 1.36."""
    message_path = str(PurePosixPath("/", container.termination_message_path))
    return [
        api_pb2.Mount(host_path=str(file), container_path=inside, selinux_relabel=host.selinux)
        for file, inside in ((instance.hosts_file, PATH_INSIDE), (instance.message_file, message_path))
        if file is not None
    ]
