"""A workload as a rule sees it: a Pod, or an object with a pod template, with its containers and their probes. Each of
them knows the one that it belongs to, which is why they are in one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from probelet.lab.explain.bounds import Bounds, Timing, bounds
from probelet.lab.explain.span import Span
from probelet.lint.finding import Place
from probelet.lint.model.command_bound import bounded
from probelet.lint.model.neighbour import Autoscaler, DisruptionBudget, NetworkPolicy, Service
from probelet.lint.model.neighbours import Neighbours
from probelet.lint.model.route import Route
from probelet.lint.observed.container import ObservedClients, ObservedContainer, ObservedProbe
from probelet.lint.observed.match import Observations
from probelet.lint.settings import Settings
from probelet.spec.model.container import Container
from probelet.spec.model.int_or_string import IntOrString, parse_int_or_string
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe, ProbeType

Role: TypeAlias = Literal["regular", "sidecar", "init", "ephemeral"]

_TO_THEIR_END: Final = frozenset({"Job", "CronJob"})


@dataclass(frozen=True, eq=False)
class LintProbe(Place):
    """One probe of a container."""

    type: ProbeType
    spec: Probe
    """With its defaults. Times are whole seconds."""
    written: frozenset[str]
    """The names of the fields in the text, as the text has them: ``timeoutSeconds``, ``httpGet``."""
    path: str
    """From the object's root: ``spec.template.spec.containers[0].livenessProbe``."""
    container: "LintContainer"
    memo: dict[object, Any] = field(default_factory=dict)
    """Answers that several rules need about the probe, by the function that gives them."""

    @cached_property
    def timing(self) -> Timing:
        """The fields that are times and thresholds."""
        return Timing.of(self.spec)

    @property
    def bounds(self) -> Bounds:
        """From when to when its decisions fall, in seconds; the simulator proves them."""
        return self.container.bounds[self.type]

    @cached_property
    def handler(self) -> Literal["exec", "httpGet", "tcpSocket", "grpc"] | None:
        """The handler that runs."""
        return self.spec.handler

    @cached_property
    def argv(self) -> list[str]:
        """The command of an exec probe; empty for any other, and for a command that is too long."""
        return bounded(self.spec.exec.command) if self.spec.exec is not None else []

    @property
    def port(self) -> IntOrString | None:
        """The port as written, a number or a name; None for an exec probe."""
        match self.handler:
            case "httpGet":
                return self.spec.http_get.port if self.spec.http_get is not None else None
            case "tcpSocket":
                return self.spec.tcp_socket.port if self.spec.tcp_socket is not None else None
            case "grpc":
                return self.spec.grpc.port if self.spec.grpc is not None else None
            case _:
                return None

    @cached_property
    def port_number(self) -> int | None:
        """The port that the prober connects to; None for an exec probe, and for a name that no port has."""
        port = parse_int_or_string(self.port) if isinstance(self.port, str) else self.port
        if not isinstance(port, str):
            return port
        return next((entry.container_port for entry in self.container.spec.ports if entry.name == port), None)

    @property
    def host(self) -> str:
        """The host that replaces the pod's address; empty if none does."""
        if self.handler == "httpGet" and self.spec.http_get is not None:
            return self.spec.http_get.host
        return self.spec.tcp_socket.host if self.handler == "tcpSocket" and self.spec.tcp_socket is not None else ""

    @property
    def observed(self) -> list[ObservedProbe]:
        """The observations of this probe, in one row for each pod; empty without ``--observed``."""
        return [row.probes[self.type] for row in self.container.observed if self.type in row.probes]

    def of(self, message: str) -> str:
        """The message with the container's name, if its pod has several containers."""
        return self.container.of(message)

    def is_written(self, field: str) -> bool:
        """True if the text has this field, such as ``timeoutSeconds``."""
        return field in self.written


@dataclass(eq=False)
class LintContainer(Place):
    """One container of a workload."""

    spec: Container
    """With its defaults."""
    role: Role
    """``sidecar``: an init container with ``restartPolicy: Always``."""
    path: str
    """From the object's root: ``spec.template.spec.containers[0]``."""
    workload: "LintWorkload"
    probes: Mapping[ProbeType, LintProbe]
    """In the order liveness, readiness, startup."""

    @property
    def name(self) -> str:
        """The container's name."""
        return self.spec.name

    @property
    def liveness(self) -> LintProbe | None:
        """The liveness probe."""
        return self.probes.get("liveness")

    @property
    def readiness(self) -> LintProbe | None:
        """The readiness probe."""
        return self.probes.get("readiness")

    @property
    def startup(self) -> LintProbe | None:
        """The startup probe."""
        return self.probes.get("startup")

    @property
    def killer(self) -> LintProbe | None:
        """The probe that decides how long a start may take: startup, else liveness; None if no probe kills it."""
        return self.startup or self.liveness

    @cached_property
    def bounds(self) -> Mapping[ProbeType, Bounds]:
        """The bounds of each probe."""
        return bounds(self.spec)

    @property
    def startup_budget(self) -> Span | None:
        """When a container that never succeeds is killed, in seconds from its start; None if no probe kills it.
        ``earliest`` is the time that every start may take."""
        return next(iter(self.bounds.values())).startup_budget if self.bounds else None

    @cached_property
    def startup_seconds(self) -> float | None:
        """How long a start takes at most: the annotation ``probelet.dev/startup-seconds``, else the setting."""
        declared = self.workload.declared_startup.get(self.name)
        return declared if declared is not None else self.workload.settings.startup_p99

    @cached_property
    def observed(self) -> list[ObservedContainer]:
        """The observations of this container, in one row for each pod; empty without ``--observed``."""
        owner, scope = self.workload, self.workload.scope
        return scope.observations.of(owner.written_namespace, owner.name, self.name, scope.names)

    def of(self, message: str) -> str:
        """The message with the container's name, if its pod has several containers."""
        return message if self.workload.is_single else f"container {self.name}: {message}"


@dataclass(eq=False)
class LintWorkload(Place):
    """One object with pods, and everything that belongs to it."""

    kind: str
    """``Deployment``, ``StatefulSet``, ``DaemonSet``, ``ReplicaSet``, ``ReplicationController``, ``Job``, ``CronJob``
    or ``Pod``."""
    written_namespace: str
    """Empty if the text has none."""
    name: str
    """Empty for an object with ``generateName``."""
    object: Any
    """The decoded object, for fields of the workload itself such as ``spec.strategy``: a type of ``spec.model``. Fields
    that are ``Opaque`` there are plain values here."""
    pod: Pod
    """The pod of the template, with its defaults."""
    template: str
    """The path of the pod in the object: ``spec.template``; empty for a Pod."""
    replicas: int
    """How many pods it asks for; 1 for a DaemonSet."""
    scope: "Scope"
    declared_startup: Mapping[str, float]
    """Container -> seconds, from the annotation ``probelet.dev/startup-seconds``."""
    containers: list[LintContainer] = field(default_factory=list)
    """All containers of which no field is mistaken, in the order regular, init, ephemeral."""
    path: str = ""
    """Empty: it is the object's root."""

    @property
    def label(self) -> str:
        """``Deployment/default/web``."""
        return f"{self.kind}/{self.pod.metadata.namespace}/{self.name or self.pod.metadata.generate_name}"

    @property
    def settings(self) -> Settings:
        """The settings of this run."""
        return self.scope.settings

    @cached_property
    def probed(self) -> list[LintContainer]:
        """The regular containers and sidecars that have a probe. The API server refuses a probe of any other."""
        return [found for found in self.containers if found.probes and found.role in ("regular", "sidecar")]

    @property
    def is_single(self) -> bool:
        """True if the pod has one container."""
        return len(self.containers) == 1

    @property
    def runs_forever(self) -> bool:
        """True if its containers are started again whenever they end."""
        return self.kind not in _TO_THEIR_END and self.pod.spec.restart_policy == "Always"

    @property
    def is_daemon(self) -> bool:
        """True for one pod a node: how many there are is not in the manifest."""
        return self.kind == "DaemonSet"

    @cached_property
    def replicas_min(self) -> int:
        """The fewest pods it may have: an autoscaler's ``minReplicas``, else ``replicas``."""
        least = [found.spec.min_replicas or 1 for found in self.autoscalers]
        return min(least) if least else self.replicas

    @cached_property
    def services(self) -> list[Service]:
        """The Services that select its pods."""
        return list(self.scope.neighbours.services(self.written_namespace, self.pod.metadata.labels))

    @cached_property
    def disruption_budgets(self) -> list[DisruptionBudget]:
        """The PodDisruptionBudgets that select its pods."""
        return list(self.scope.neighbours.disruption_budgets(self.written_namespace, self.pod.metadata.labels))

    @cached_property
    def autoscalers(self) -> list[Autoscaler]:
        """The autoscalers that scale it."""
        return list(self.scope.neighbours.autoscalers(self.written_namespace, self.kind, self.name))

    @cached_property
    def network_policies(self) -> list[NetworkPolicy]:
        """The NetworkPolicies that select its pods."""
        return list(self.scope.neighbours.network_policies(self.written_namespace, self.pod.metadata.labels))

    @cached_property
    def routes(self) -> list[Route]:
        """The Ingresses, HTTPRoutes and VirtualServices in front of its Services."""
        return list(self.scope.neighbours.routes(self.written_namespace, self.services))

    @cached_property
    def clients(self) -> list[ObservedClients]:
        """The observations of its clients; empty without ``--observed``."""
        names = [service.metadata.name for service in self.services]
        return self.scope.observations.clients(self.written_namespace, self.name, names)

    def number(self, field: str, default: int) -> int:
        """The whole number in a field of the object's ``spec`` that the model passes on unread; ``default`` if it has
        none."""
        value = getattr(self.object.spec, field, None)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def in_pod(self, field: str) -> str:
        """The path in the object of a field of its pod: ``spec.hostNetwork`` is ``spec.template.spec.hostNetwork``."""
        return f"{self.template}.{field}".lstrip(".")


@dataclass(eq=False)
class Scope:
    """The objects of one directory, or of standard input: as if they were one cluster."""

    settings: Settings
    workloads: list[LintWorkload] = field(default_factory=list)
    neighbours: Neighbours = field(default_factory=Neighbours)
    """The objects beside the workloads."""
    observations: Observations = field(init=False)
    """The observations of their containers."""

    def __post_init__(self) -> None:
        self.observations = Observations(self.settings.observed)

    @cached_property
    def names(self) -> list[str]:
        """The names of all workloads, once all of them are here."""
        return [workload.name for workload in self.workloads]
