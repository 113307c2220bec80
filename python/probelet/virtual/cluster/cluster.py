"""A cluster in virtual time."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from probelet.beside.guard.restart.settings.read import read_settings
from probelet.errors import ClusterError
from probelet.policy.incidents import Output
from probelet.policy.node.kill_gate import HoldOptions
from probelet.spec.annotation.hold_kills import CHOICES, HoldChoice
from probelet.spec.text.duration import SECOND, format_duration
from probelet.virtual.argument import check_type
from probelet.virtual.cluster.applying import apply, bind, wanted
from probelet.virtual.cluster.behaviour import Behaviour, Spread, check_spread
from probelet.virtual.cluster.container import bytes_of, mentioned
from probelet.virtual.cluster.controllers.endpoints import Service, Traffic
from probelet.virtual.cluster.controllers.workload import Workload
from probelet.virtual.cluster.duration import nanoseconds, positive
from probelet.virtual.cluster.fault import Fault, Rollout
from probelet.virtual.cluster.fault_injector import Dependency, FaultInjector, known
from probelet.virtual.cluster.guarded.restarts import GuardedRestarts
from probelet.virtual.cluster.history import history, requests
from probelet.virtual.cluster.incidents import incident_line, incidents
from probelet.virtual.cluster.node.pod import regular
from probelet.virtual.cluster.objects.read import read
from probelet.virtual.cluster.record import Event, Exited, History, Kill, Requests
from probelet.virtual.cluster.state import ClusterState, container_names
from probelet.virtual.manifests import Manifests

TIMELINE_MAX: Final = 60
"""The latest lines that a timeline shows by default: about a screen."""

NODES_MAX: Final = 1_000
DEPENDENCIES_MAX: Final = 1_000
SHOWN_MAX: Final = 3
"""The workloads that a cluster's ``repr`` shows; it is one line in an assertion's message."""


class VirtualCluster:
    """Workloads under the production prober, policy and back-off on each of some nodes, in virtual time.

    Manifests are applied as people write them. A container without a behaviour is up at once and answers in 5 ms. Time
    goes by in ``run``; everything else happens at the present moment, or at the moment that a fault names. A workload
    is called by its name, or by ``namespace/name``, by the latter only where two have the same name; a container is
    ``workload/container``. Durations are written as in Go, such as ``1m30s``.

    Args:
        manifests: a file or a directory, a text in YAML or JSON, an object (``{"kind": "Deployment", ...}``), or a list
            of them. A ``str`` is a text if it has a line break or begins with ``{``, else a path.
        nodes: how many nodes there are, from 1 to 1,000: ``node-0``, ``node-1`` and so on.
        seed: of everything random: spreads, phases of pauses, the jitter of first probes.
        kubelet_version: the release whose rules for probes apply, ``1.34`` to ``1.38``.
        endpoint_delay: how much later a Service's endpoints follow the readiness of a pod.
        attempts: how many attempts are kept of each probe, from 2 to 100,000. All are counted.
        hold_kills: which liveness kills wait while an incident is open on the pod's node that a restart does not
            mend, as a node's ``holdKills``: ``off``, ``prober`` or ``shared``. The annotation
            ``probelet.dev/hold-kills`` of a pod decides for the pod.
        hold_kills_for: how long such a kill waits at most.
        strict: a warning about a manifest, such as an unknown field, is a mistake. False takes such manifests.

    Raises:
        ManifestError: a manifest has a mistake (one line each).
        ClusterError: an argument is impossible.
        TypeError: an argument has a wrong type.
        InvalidInputError: ``kubelet_version`` is not known.
    """

    def __init__(
        self,
        *manifests: Manifests,
        nodes: int = 1,
        seed: int = 0,
        kubelet_version: str = "1.36",
        endpoint_delay: str = "1s",
        attempts: int = 2_000,
        hold_kills: HoldChoice = "off",
        hold_kills_for: str = "5m",
        strict: bool = True,
    ) -> None:
        for name, value in (("nodes", nodes), ("seed", seed), ("attempts", attempts)):
            check_type(name, value, int)
        check_type("strict", strict, bool)
        if hold_kills not in CHOICES:
            raise ClusterError(f"hold_kills: {hold_kills!r}: must be one of {', '.join(CHOICES)}")
        if not 1 <= nodes <= NODES_MAX:
            raise ClusterError(f"nodes: {nodes}: must be from 1 to {NODES_MAX}")
        self._seed = seed
        self._strict = strict
        self._state = ClusterState(
            nodes=nodes,
            seed=seed,
            kubelet_version=kubelet_version,
            endpoint_delay_ns=nanoseconds("endpoint_delay", endpoint_delay),
            attempts=attempts,
            hold=HoldOptions(hold_kills, positive("hold_kills_for", hold_kills_for)),
        )
        self._injector = FaultInjector(self._state)
        self._guard: GuardedRestarts | None = None
        self._state.on_endpoints = self._endpoints_changed
        if manifests:
            self.apply(*manifests)

    def __repr__(self) -> str:
        """Time, and how many replicas of the first workloads are ready."""
        listed = list(self._state.workloads.values())
        shown = [
            f"{each.name} {self.ready(each.name)}/{wanted(self._state, each)} ready" for each in listed[:SHOWN_MAX]
        ]
        if hidden := len(listed) - len(shown):
            shown.append(f"{hidden} more workloads")
        return f"<Cluster at {format_duration(self._state.now)}, seed {self._seed}: {', '.join(shown)}>"

    @property
    def now(self) -> float:
        """Seconds since t = 0."""
        return self._state.now / SECOND

    @property
    def seed(self) -> int:
        """The seed that plays this cluster again."""
        return self._seed

    @property
    def workloads(self) -> list[str]:
        """The names of the workloads, in the order in which they were applied; a bare pod is one."""
        return list(self._state.workloads)

    @property
    def services(self) -> list[str]:
        """The names of the Services, in the order in which they were applied or got traffic."""
        return list(self._state.endpoints.services)

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes."""
        return self._state.nodes

    def containers(self, workload: str) -> dict[str, tuple[str, ...]]:
        """The containers of a workload's pods, ``workload/container``, with the types of their probes.

        Raises:
            ClusterError: there is no such workload.
        """
        return container_names(self._workload(workload))

    def services_of(self, workload: str) -> list[str]:
        """The Services whose selector matches a workload's pods.

        Raises:
            ClusterError: there is no such workload.
        """
        template = self._workload(workload).current.template
        return [name for name, each in self._state.endpoints.services.items() if each.selects(template, workload)]

    def wanted(self, workload: str) -> int:
        """How many replicas a workload should have now.

        Raises:
            ClusterError: there is no such workload.
        """
        return wanted(self._state, self._workload(workload))

    def apply(self, *manifests: Manifests) -> None:
        """Apply manifests now, as ``kubectl apply`` does. A workload that was applied before and has another template
        is rolled out; a change of its other fields counts from now on.

        Raises:
            ManifestError: a manifest has a mistake (one line each). Nothing is applied then.
        """
        apply(self._state, read(manifests, strict=self._strict))

    def behave(self, target: str, behaviour: Behaviour | None = None, /, **fields: object) -> None:
        """Say how the containers of ``target`` behave, from now on; ``fields`` are those of ``Behaviour``, and replace
        those of the behaviour that was given, or else of the one that the containers have.

        ``target`` is a container (``web/app``) or a workload, which stands for all its regular containers.

        Raises:
            ClusterError: there is no such container or dependency, or the behaviour is impossible.
        """
        self._injector.check_target("target", target)
        workloads = self._state.workloads
        workload = workloads[target if target in workloads else target.rpartition("/")[0]]
        version = workload.current
        names = regular(version.template) if workload.name == target else [target.rpartition("/")[2]]
        for name in names:
            base = version.behaviours.get(name, Behaviour()) if behaviour is None else behaviour
            made = _with_fields(base, fields)
            for dependency in sorted(mentioned([made])):
                self._injector.check_dependency(dependency)
            version.behaviours[name] = made
            for pod in workload.pods.values():
                if pod.version == version.number:
                    self._state.containers.behave(pod, name, made)
                    self._state.know(pod)
        self._state.containers.refresh()

    def dependency(self, name: str, latency: Spread = "5ms", *, asks: tuple[str, ...] = ()) -> None:
        """Provide a service outside the manifests that containers ask; ``asks`` are dependencies that it asks itself.

        A dependency with the name of a Service of the cluster is down while that Service has no endpoint. Its load does
        not slow it here: say how slow it is with ``latency``.

        Raises:
            ClusterError: the latency is impossible, ``asks`` has an unknown name, or the dependencies ask in a circle.
        """
        check_spread("latency", latency)
        dependencies = self._injector.dependencies
        if name not in dependencies and len(dependencies) >= DEPENDENCIES_MAX:
            raise ClusterError(f"name: {name!r}: there are {DEPENDENCIES_MAX} dependencies already, which is the most")
        for asked in asks:
            self._injector.check_dependency(asked)
            if way := self._way(asked, name):
                raise ClusterError(f"asks: {asked!r}: dependencies ask in a circle: {' -> '.join([name, *way])}")
        is_service = name in self._state.endpoints.services
        self._injector.provide(name, Dependency(latency, tuple(asks), is_service))

    def traffic(self, service: str, rate: float, *, timeout: str = "1s", slo: str = "500ms") -> None:
        """Offer ``rate`` requests a second to a Service from now on; a workload without a Service gets one of its name.

        Args:
            service: the name of a Service, or of a workload.
            rate: requests a second, from 0 to 1e9.
            timeout: how long a client waits; a request that takes longer is lost.
            slo: a request that takes longer is late.

        Raises:
            ClusterError: there is no such Service or workload, or a value is impossible.
        """
        if not 0 <= rate <= 1e9:
            raise ClusterError(f"rate: {rate}: must be from 0 to 1e9 requests a second")
        services = self._state.endpoints.services
        if service not in services:
            known("service", service, [*services, *self._state.workloads], "Service or workload")
            namespace = self._state.workloads[service].namespace
            services[service] = Service(service, namespace, None, workload=service)
            bind(self._state, services[service])
        found = services[service]
        found.traffic = Traffic(rate, positive("timeout", timeout), positive("slo", slo))
        self._state.endpoints.offer(found)

    def fault(self, *faults: Fault) -> None:
        """Let faults happen at their time; one whose time is over happens now.

        Raises:
            ClusterError: a fault names something that is not there, or has an impossible value.
        """
        for each in faults:
            self._injector.plan(each)

    def rollout(self, workload: str, *, at: str = "0s", behaviour: Behaviour | None = None) -> None:
        """Roll out a new version of a workload: the fault ``Rollout``.

        Raises:
            ClusterError: there is no such workload.
        """
        self.fault(Rollout(workload, behaviour, at=at))

    def guard(self, settings: Mapping[str, str] | None = None) -> None:
        """Decide about failed liveness probes for the whole cluster from now on, as ``probelet controller`` does:
        within the PodDisruptionBudgets that were applied, limits of each workload, and a rate. No kubelet kills for
        liveness.

        The machine that decides is the controller's. A probe that failed rests until its container is restarted, so a
        recovery without a restart is not seen here.

        Args:
            settings: the data of the controller's ConfigMap, such as ``{"rate.tokensPerMinute": "60"}``.

        Raises:
            ClusterError: a setting is unknown or impossible, or the cluster is guarded already.
        """
        if self._guard is not None:
            raise ClusterError("guard: the cluster is guarded already")
        config, problems = read_settings(settings or {})
        if config is None or problems:
            raise ClusterError(f"settings: {problems[0]}")
        self._guard = self._state.guard = GuardedRestarts(self._state, self._state.budgets, config, self._seed)

    @property
    def decisions(self) -> Mapping[str, int]:
        """How often each reason decided about a failed liveness probe, by reason; empty without ``guard``."""
        return {} if self._guard is None else dict(self._guard.decisions)

    def run(self, duration: str) -> None:
        """Let virtual time go by. Ctrl-C (``KeyboardInterrupt``) ends it within a second; the records stay readable.

        Raises:
            ClusterError: the duration cannot be read.
        """
        self._state.play(self._state.now + nanoseconds("duration", duration))

    def ready(self, workload: str) -> int:
        """How many pods of a workload are ready now.

        Raises:
            ClusterError: there is no such workload.
        """
        self._catch_up()
        return sum(pod.is_ready and not pod.is_terminating for pod in self._workload(workload).pods.values())

    def restarts(self, workload: str) -> int:
        """How often containers of a workload's pods were started again, those of pods that are gone too.

        Raises:
            ClusterError: there is no such workload.
        """
        found = self._workload(workload)
        return found.restarts_before + sum(pod.restarts for pod in found.pods.values())

    def requests(self, service: str) -> Requests:
        """The requests to a Service so far. All zero without ``traffic``.

        Raises:
            ClusterError: there is no such Service or workload.
        """
        known("service", service, [*self._state.endpoints.services, *self._state.workloads], "Service or workload")
        found = self._state.endpoints.services.get(service)
        return Requests() if found is None else requests(self._state, found)

    @property
    def events(self) -> list[Event]:
        """Every event, oldest first, at most ``EVENTS_MAX``."""
        return sorted(self._state.writer.events, key=lambda event: event.at)

    @property
    def kills(self) -> list[Kill]:
        """Every verdict of a probe that had a container killed, oldest first."""
        return list(self._state.writer.kills)

    @property
    def exits(self) -> list[Exited]:
        """Every end of a container, oldest first."""
        return list(self._state.writer.exits)

    @property
    def history(self) -> History:
        """All that has happened so far."""
        return history(self._state, self._seed)

    def incidents(self, *, named: bool = True) -> list[tuple[float, Output]]:
        """The outputs of the detector of incidents so far, in order, each with its time in seconds.

        Args:
            named: whether it knows what each probe asks, as from a command or an annotation; False: nothing.
        """
        self._catch_up()
        return incidents(self._state, named=named)

    def timeline(self, last: int = TIMELINE_MAX) -> str:
        """Describes the run, for the message of an assertion: faults, events, kills, states of pods, endpoints and
        incidents, one line each, then the requests and the seed.

        The latest ``last`` lines, oldest first. ``assert cluster.kills == [], cluster.timeline()``
        """
        said = (line for at, output in self.incidents() if (line := incident_line(at, output)) is not None)
        lines = self._state.writer.timeline(last, said)
        for name, service in self._state.endpoints.services.items():
            if service.number is not None:
                found = requests(self._state, service)
                numbers = f"{found.offered:.1f} offered, {found.served:.1f} served, {found.late:.1f} late"
                lines.append(f"requests to {name}: {numbers}, {found.lost:.1f} lost")
        return "\n".join([*lines, f"{self!r}"])

    # Inside.

    def _workload(self, name: str) -> Workload:
        known("workload", name, self._state.workloads, "workload")
        return self._state.workloads[name]

    def _catch_up(self) -> None:
        """Let everything happen that is due at this moment."""
        self._state.play(self._state.now)

    def _endpoints_changed(self, service: Service) -> None:
        if service.name in self._injector.dependencies:
            self._injector.describe(service.name)

    def _way(self, name: str, goal: str) -> list[str]:
        """How ``name`` comes to ask ``goal``; empty if it does not."""
        if name == goal:
            return [name]
        for asked in self._injector.dependencies[name].asks:
            if way := self._way(asked, goal):
                return [name, *way]
        return []


def _with_fields(behaviour: Behaviour, fields: dict[str, Any]) -> Behaviour:
    """The behaviour with some fields replaced.

    Raises:
        ClusterError: a field is unknown or impossible.
    """
    for name in fields:
        known("field", name, Behaviour.__struct_fields__, "field of Behaviour")
    try:
        made = msgspec.convert({**msgspec.structs.asdict(behaviour), **fields}, Behaviour, from_attributes=True)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, ClusterError):
            raise error.__cause__ from None
        raise ClusterError(f"behaviour: {error}") from error
    if made.leak is not None:
        for name in ("memory_per_hour", "memory_start"):
            bytes_of(f"leak.{name}", getattr(made.leak, name))
        nanoseconds("leak.latency_per_hour", made.leak.latency_per_hour)
        if made.leak.memory_limit:
            bytes_of("leak.memory_limit", made.leak.memory_limit)
    return made
