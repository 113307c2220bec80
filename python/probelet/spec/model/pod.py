"""Pod, its spec and its status (core/v1, Kubernetes 1.36)."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from probelet.spec.model.container import Container
from probelet.spec.model.meta import Int32, Int64, Object, ObjectMeta, Opaque
from probelet.spec.model.probe import Probe
from probelet.spec.model.resources import ResourceRequirements
from probelet.spec.model.security_context import PodSecurityContext

PodPhase: TypeAlias = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]


class HostAlias(Object, frozen=True, kw_only=True):
    """A line of /etc/hosts."""

    ip: str = ""
    hostnames: list[str] = msgspec.field(default_factory=list)


class PodReadinessGate(Object, frozen=True, kw_only=True):
    """A condition that something outside the node sets; the pod is not ready before it is True."""

    condition_type: str = ""


class PodSchedulingGate(Object, frozen=True, kw_only=True):
    """A reason not to schedule a pod yet; such a pod has no node."""

    name: str = ""


class PodSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a pod. Fields typed ``Opaque`` are passed on without being read."""

    containers: list[Container] = msgspec.field(default_factory=list)
    init_containers: list[Container] = msgspec.field(default_factory=list)
    ephemeral_containers: list[Container] = msgspec.field(default_factory=list)
    restart_policy: str = ""
    """``Always`` (default), ``OnFailure`` or ``Never``."""
    termination_grace_period_seconds: Int64 | None = None
    """Default 30; at least 0."""
    active_deadline_seconds: Int64 | None = None
    host_aliases: list[HostAlias] = msgspec.field(default_factory=list)
    hostname: str = ""
    host_ipc: bool = msgspec.field(default=False, name="hostIPC")
    host_network: bool = False
    host_pid: bool = msgspec.field(default=False, name="hostPID")
    host_users: bool | None = None
    """False asks for a user namespace of the pod's own."""
    node_name: str = ""
    share_process_namespace: bool | None = None
    affinity: Opaque = None
    automount_service_account_token: Opaque = None
    dns_config: Opaque = None
    dns_policy: Opaque = None
    enable_service_links: Opaque = None
    hostname_override: str | None = None
    image_pull_secrets: Opaque = None
    node_selector: Opaque = None
    os: Opaque = None
    overhead: Opaque = None
    preemption_policy: Opaque = None
    priority: Opaque = None
    priority_class_name: Opaque = None
    readiness_gates: list[PodReadinessGate] = msgspec.field(default_factory=list)
    resource_claims: Opaque = None
    resources: ResourceRequirements | None = None
    """The pod's own, beside those of its containers (KEP-2837)."""
    runtime_class_name: Opaque = None
    scheduler_name: Opaque = None
    scheduling_gates: list[PodSchedulingGate] = msgspec.field(default_factory=list)
    scheduling_group: Opaque = None
    security_context: PodSecurityContext | None = None
    service_account: str = ""
    """The older spelling of ``service_account_name``."""
    service_account_name: str = ""
    set_hostname_as_fqdn: bool | None = msgspec.field(default=None, name="setHostnameAsFQDN")
    subdomain: str = ""
    """Its pods' names end in ``SUBDOMAIN.NAMESPACE.svc.CLUSTER_DOMAIN``."""
    tolerations: Opaque = None
    topology_spread_constraints: Opaque = None
    volumes: Opaque = None
    workload_ref: Opaque = None

    def each_container(self) -> Iterator[tuple[str, Container]]:
        """Yields every container with its field path in validation order: regular, init, ephemeral."""
        kinds = (
            ("containers", self.containers),
            ("initContainers", self.init_containers),
            ("ephemeralContainers", self.ephemeral_containers),
        )
        for name, containers in kinds:
            for index, container in enumerate(containers):
                yield f"spec.{name}[{index}]", container

    def each_probe(self) -> Iterator[tuple[str, Probe]]:
        """Yields every probe with its field path."""
        for path, container in self.each_container():
            for probe_type, probe in container.probes.items():
                yield f"{path}.{probe_type}Probe", probe


class ContainerStateWaiting(Object, frozen=True, kw_only=True):
    """Not running: not started yet, or in back-off."""

    reason: str = ""
    message: str = ""


class ContainerStateRunning(Object, frozen=True, kw_only=True):
    """Running since ``started_at`` (RFC 3339, whole seconds)."""

    started_at: str | None = None


class ContainerStateTerminated(Object, frozen=True, kw_only=True):
    """Ended."""

    exit_code: Int32 = 0
    signal: Int32 = 0
    reason: str = ""
    message: str = ""
    started_at: str | None = None
    finished_at: str | None = None
    container_id: str = msgspec.field(default="", name="containerID")


class ContainerState(Object, frozen=True, kw_only=True):
    """At most one field is set; none means waiting."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Object, frozen=True, kw_only=True):
    """The observed state of one container."""

    name: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    ready: bool = False
    restart_count: Int32 = 0
    image: str = ""
    image_id: str = msgspec.field(default="", name="imageID")
    container_id: str = msgspec.field(default="", name="containerID")
    """``<type>://<id>``."""
    started: bool | None = None


class PodCondition(Object, frozen=True, kw_only=True):
    """One condition of a pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class PodIP(Object, frozen=True, kw_only=True):
    """One address of a pod."""

    ip: str = ""


class PodStatus(Object, frozen=True, kw_only=True):
    """The observed state of a pod: the fields that a prober and its callers read."""

    phase: str = ""
    conditions: list[PodCondition] = msgspec.field(default_factory=list)
    reason: str = ""
    message: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: list[PodIP] = msgspec.field(default_factory=list, name="podIPs")
    start_time: str | None = None
    container_statuses: list[ContainerStatus] = msgspec.field(default_factory=list)
    init_container_statuses: list[ContainerStatus] = msgspec.field(default_factory=list)


class Pod(Object, frozen=True, kw_only=True):
    """A v1.Pod."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus | None = None

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.metadata.namespace}/{self.metadata.name}"
