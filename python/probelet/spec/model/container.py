"""Container and the types it holds, except its probes (core/v1, Kubernetes 1.36)."""

import msgspec

from probelet.spec.model.env import EnvFromSource, EnvVar
from probelet.spec.model.meta import Int32, Int64, Object, Opaque
from probelet.spec.model.probe import ExecAction, HTTPGetAction, Probe, ProbeType, TCPSocketAction
from probelet.spec.model.resources import ResourceRequirements
from probelet.spec.model.security_context import SecurityContext


class ContainerPort(Object, frozen=True, kw_only=True):
    """A port that the container listens on; probes can refer to its name."""

    name: str = ""
    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""
    """``TCP`` (default), ``UDP`` or ``SCTP``."""


class SleepAction(Object, frozen=True, kw_only=True):
    """A hook that only sleeps."""

    seconds: Int64 = 0


class LifecycleHandler(Object, frozen=True, kw_only=True):
    """The action of a hook: exactly one field is set."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(Object, frozen=True, kw_only=True):
    """Hooks after the start and before the stop of a container."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class ContainerRestartRuleOnExitCodes(Object, frozen=True, kw_only=True):
    """The exit codes that a restart rule matches (KEP-5307)."""

    operator: str = ""
    """``In`` or ``NotIn``."""
    values: list[Int32] = msgspec.field(default_factory=list)


class ContainerRestartRule(Object, frozen=True, kw_only=True):
    """The action on certain exit codes; rules apply before the restart policy (KEP-5307)."""

    action: str = ""
    """``Restart`` or ``RestartAllContainers``."""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class Container(Object, frozen=True, kw_only=True):
    """A container of any kind: regular, init, sidecar (an init container with restartPolicy Always), ephemeral."""

    name: str = ""
    image: str = ""
    image_pull_policy: str = ""
    """``Always`` (default for ``:latest``), ``IfNotPresent`` (default for other tags) or ``Never``."""
    command: list[str] = msgspec.field(default_factory=list)
    args: list[str] = msgspec.field(default_factory=list)
    working_dir: str = ""
    env: list[EnvVar] = msgspec.field(default_factory=list)
    ports: list[ContainerPort] = msgspec.field(default_factory=list)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    restart_policy: str | None = None
    """``Always``, ``OnFailure`` or ``Never``; if absent, the pod's. ``Always`` on an init container makes a sidecar."""
    restart_policy_rules: list[ContainerRestartRule] = msgspec.field(default_factory=list)
    target_container_name: str = ""
    """Only on ephemeral containers."""
    env_from: list[EnvFromSource] = msgspec.field(default_factory=list)
    resize_policy: Opaque = None
    resources: ResourceRequirements | None = None
    security_context: SecurityContext | None = None
    stdin: bool = False
    stdin_once: bool = False
    termination_message_path: str = ""
    termination_message_policy: str = ""
    """``File``, or ``FallbackToLogsOnError``: the log's end instead of an empty file's, if the container failed."""
    tty: bool = False
    volume_devices: Opaque = None
    volume_mounts: Opaque = None

    def probe(self, probe_type: ProbeType) -> Probe | None:
        """The probe of type ``probe_type``, or None."""
        match probe_type:
            case "liveness":
                return self.liveness_probe
            case "readiness":
                return self.readiness_probe
            case "startup":
                return self.startup_probe

    def numbered(self, port: int | str) -> int | str:
        """A port by its number where one of the container's ports has this name; else the port as it is."""
        return next((known.container_port for known in self.ports if known.name == port), port)

    @property
    def probes(self) -> dict[ProbeType, Probe]:
        """The probes that are set, in the order liveness, readiness, startup."""
        present: dict[ProbeType, Probe | None] = {
            "liveness": self.liveness_probe,
            "readiness": self.readiness_probe,
            "startup": self.startup_probe,
        }
        return {probe_type: probe for probe_type, probe in present.items() if probe is not None}
