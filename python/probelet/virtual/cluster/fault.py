"""The faults of a cluster: what happens at a time.

Each has ``at``, when it begins, and may have ``lasts``, how long it is; None: until the end. Both are durations as Go
writes them, ``at`` from t = 0. A container is called ``web/app``; its workload, ``web``, stands for all its regular
containers. ``replicas`` is how many of the target's pods a fault hits, a number or a percentage rounded up, the ones
with the first names first; None: all. A node is called ``node-0``, ``node-1`` and so on; ``*`` stands for every node.

``VirtualCluster.fault`` takes names. It checks them and the values, and raises ``ClusterError``. Scenario files have
the same faults with patterns in the place of names: ``probelet.lab.scenario`` makes a fault of each name that matches,
and counts ``at`` from the beginning of the traffic.
"""

from typing import Annotated

import msgspec

from probelet.config.kubelet import DurationAboveZero, Section
from probelet.errors import ClusterError
from probelet.spec.read.decode import extra_of, file_fields, in_file, is_duration
from probelet.spec.text.duration import MINUTE
from probelet.virtual.cluster.behaviour import Behaviour, Pause, Spread, check_pause, check_spread
from probelet.virtual.cluster.duration import (
    NotNegative,
    Replicas,
    Required,
    Unset,
    nanoseconds,
    positive,
    share,
    shown,
)

Factor = Annotated[float, msgspec.Meta(extra={"range": "above 0"}, extra_json_schema={"exclusiveMinimum": 0})]


class Fault(Section, frozen=True, kw_only=True, tag_field="type"):
    """Base of all faults."""

    at: NotNegative = "0s"
    """When it begins. Default 0s."""

    @property
    def kind(self) -> str:
        """The fault's name in scenarios and documents, such as ``dependency-slow``."""
        return str(self.__struct_config__.tag)

    @property
    def target(self) -> str:
        """The target of the fault: the name of a dependency, Service, workload, container or node."""
        return str(getattr(self, self.__struct_fields__[0]))

    @property
    def label(self) -> str:
        """The fault in a few words, for a band of a picture."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises ``ClusterError`` if a value is impossible; the text names the field, the value and what is allowed."""
        for field in file_fields(type(self)):
            value = getattr(self, field.name)
            if value is not None and is_duration(field.type):
                is_above_zero = extra_of(field.type)["range"] == "above 0"
                (positive if is_above_zero else nanoseconds)(field.name, value)


class Lasting(Fault, frozen=True, kw_only=True):
    """Base of the faults that last."""

    lasts: Unset = None
    """How long it lasts. Default: until the end."""


class DependencySlow(Lasting, frozen=True, tag="dependency-slow"):
    """A dependency takes this long instead of its own latency."""

    dependency: str
    """Its name."""
    latency: Spread
    """How long it takes meanwhile."""

    @property
    def label(self) -> str:
        """Such as ``auth slow: 1.5s``."""
        latency = self.latency
        text = latency if isinstance(latency, str) else ", ".join(f"{key} {value}" for key, value in latency.items())
        return f"{self.dependency} slow: {text}"

    def check(self) -> None:
        super().check()
        check_spread("latency", self.latency)


class DependencyDown(Lasting, frozen=True, tag="dependency-down"):
    """A dependency does not answer."""

    dependency: str = ""
    """The dependency's name."""
    hangs: bool = False
    """False (default): it refuses, so that what asks it fails at once. True: what asks it waits for its timeout."""

    @property
    def label(self) -> str:
        """Such as ``auth down``."""
        return f"{self.dependency} {'hangs' if self.hangs else 'down'}"


class Partition(Lasting, frozen=True, tag="partition"):
    """A part of the network does not reach the rest: what goes between hangs."""

    # Requests to the pods of a node that is alone are lost, its pods reach no dependency, and its endpoints stay,
    # because its kubelet cannot report. Probes come from the pod's own node and go on.

    cut: str = ""
    """A pattern of workloads, if a dependency is given, or of nodes: what is cut off."""
    dependency: str | None = None
    """From this dependency alone. Default: a node from everything but its own prober."""

    @property
    def label(self) -> str:
        """Such as ``web cut off from auth``."""
        return f"{self.cut} cut off" + (f" from {self.dependency}" if self.dependency else "")


class NodeSlow(Lasting, frozen=True, tag="node-slow"):
    """Everything on a node takes longer: requests, probes, and start-ups that begin meanwhile."""

    node: str = "node-0"
    """A pattern of nodes (`node-0`, `node-1` ...). Default: `node-0`."""
    factor: Factor = 4.0
    """How many times as long. Default 4."""

    @property
    def label(self) -> str:
        """Such as ``node-1 slow: x 4``."""
        return f"{self.node} slow: x {self.factor:g}"

    def check(self) -> None:
        super().check()
        if not 0.01 <= self.factor <= 1_000:
            raise ClusterError(f"factor: {self.factor}: must be from 0.01 to 1000")


class ProberStarved(Lasting, frozen=True, tag="prober-starved"):
    """A node's prober gets too little CPU, and reads each answer late."""

    node: str = "node-0"
    """A pattern of nodes. Default: `node-0`."""
    late: Required = "1s"
    """How late; an answer that it reads after the probe's timeout is a timeout."""

    @property
    def label(self) -> str:
        """Such as ``prober of node-1 starved: 1s late``."""
        return f"prober of {self.node} starved: {shown(self.late)} late"


class ProberRestart(Fault, frozen=True, tag="prober-restart"):
    """A node's prober is restarted, as with its kubelet: its counts and results are lost, containers run on."""

    node: str = "*"
    """A pattern of nodes. Default: all."""
    down: NotNegative = "2s"
    """How long it makes no probe. Default 2s."""
    restore: bool = False
    """Keep what probelet's journal keeps (`restore: full`). Default false, as the kubelet."""

    @property
    def label(self) -> str:
        """Such as ``prober of node-1 restarted``."""
        return f"prober of {self.node} restarted"


class Rollout(Fault, frozen=True, tag="rollout"):
    """A workload gets a new version: the same template, whose containers behave as ``behaviour`` says.

    ``VirtualCluster.apply`` of a workload with another template is a rollout too.
    """

    workload: str
    """Its name."""
    behaviour: Behaviour | None = None
    """Of the regular containers of the new version; None: as those of the old one."""

    @property
    def label(self) -> str:
        """Such as ``rollout of web``."""
        return f"rollout of {self.workload}"


class TrafficStep(Lasting, frozen=True, tag="traffic-step"):
    """A Service is offered ``rate`` requests a second."""

    service: str
    """A Service with traffic."""
    rate: float
    """Requests a second, from 0 to 1e9."""

    @property
    def label(self) -> str:
        """Such as ``web: 500 requests/s``."""
        return f"{self.service}: {self.rate:g} requests/s"

    def check(self) -> None:
        super().check()
        if not 0 <= self.rate <= 1e9:
            raise ClusterError(f"rate: {self.rate}: must be from 0 to 1e9 requests a second")


class Struck(Fault, frozen=True):
    """Base of the faults that happen to containers of some pods."""

    container: str = "*"
    """A pattern of `workload` or `workload/container`. Default: all."""
    replicas: Replicas = None
    """In how many pods of each workload, those with the first names first. Default: in all."""

    def check(self) -> None:
        super().check()
        share("replicas", self.replicas, 1)


class Deadlock(Struck, frozen=True, tag="deadlock"):
    """Processes go on running and answer nothing any more, until they are restarted."""

    @property
    def label(self) -> str:
        """Such as ``deadlock in web/app (50%)``."""
        return f"deadlock in {self.container} ({_share(self.replicas)})"


class Exit(Struck, frozen=True, tag="exit"):
    """Processes end by themselves."""

    code: Annotated[int, msgspec.Meta(ge=0, le=255)] = 1
    """The exit code. Default 1."""

    @property
    def label(self) -> str:
        """Such as ``web/app exits (100%)``."""
        return f"{self.container} exits ({_share(self.replicas)})"

    def check(self) -> None:
        super().check()
        if not 0 <= self.code <= 255:
            raise ClusterError(f"code: {self.code}: must be from 0 to 255")


class Growing(Lasting, frozen=True):
    """Base of the faults that happen to all containers of a target, and last."""

    container: str = "*"
    """A pattern of `workload` or `workload/container`. Default: all."""


class GcPause(Growing, frozen=True, tag="gc-pause"):
    """Processes stand still once in each period: nothing is answered until the pause is over."""

    pause: Required = "2s"
    """How long each takes."""
    every: Annotated[str | int, in_file(DurationAboveZero, default=MINUTE)] = "60s"
    """The period. Each container has a phase of its own in it. Default 1m."""

    @property
    def label(self) -> str:
        """Such as ``web/app pauses for 2s every 60s``."""
        return f"{self.container} pauses for {shown(self.pause)} every {shown(self.every)}"

    def check(self) -> None:
        super().check()
        check_pause("pause", Pause(shown(self.pause), shown(self.every)))


class SlowLeak(Growing, frozen=True, tag="leak"):
    """Processes become slower until they are restarted."""

    per_hour: Required = "100ms"
    """How much longer each request and probe takes with each hour of the container's life."""

    @property
    def label(self) -> str:
        """Such as ``web/app leaks: 100ms an hour``."""
        return f"{self.container} leaks: {shown(self.per_hour)} an hour"


class MemoryLeak(Growing, frozen=True, tag="memory-leak"):
    """Processes use more memory until they are restarted; at the limit they are killed, with exit code 137."""

    # A container that runs already when the leak begins counts from then on, others from their start.

    per_hour: Annotated[str, in_file(str, default="")] = "256Mi"
    """How much more with each hour of the container's life, as a Kubernetes quantity: `256Mi`."""
    limit: Annotated[str, in_file(str, default="")] = "512Mi"
    """The limit, as a Kubernetes quantity."""

    @property
    def label(self) -> str:
        """Such as ``web/app leaks: 256Mi an hour``."""
        return f"{self.container} leaks: {self.per_hour} an hour"


class StartupSlow(Growing, frozen=True, tag="startup-slow"):
    """Start-ups that begin meanwhile take longer."""

    more: Required = "30s"
    """How much longer."""

    @property
    def label(self) -> str:
        """Such as ``web/app starts 30s later``."""
        return f"{self.container} starts {shown(self.more)} later"


class StartupDrift(Growing, frozen=True, tag="startup-drift"):
    """Start-ups take longer with each day."""

    per_day: Required = "5s"
    """How much longer for each day since the fault began."""

    @property
    def label(self) -> str:
        """Such as ``start-up of web/app drifts: 5s a day``."""
        return f"start-up of {self.container} drifts: {shown(self.per_day)} a day"


class Evict(Fault, frozen=True, tag="evict"):
    """Pods are evicted, as by a drain of their nodes. PodDisruptionBudgets count."""

    # An eviction that a budget refuses is tried again every five seconds, as ``kubectl drain`` does.

    workload: str = "*"
    """A pattern of workloads. Default: all."""
    replicas: Replicas = None
    """How many pods of each workload. Default: all."""

    @property
    def label(self) -> str:
        """Such as ``eviction of web (1)``."""
        return f"eviction of {self.workload} ({_share(self.replicas)})"

    def check(self) -> None:
        super().check()
        share("replicas", self.replicas, 1)


def _share(replicas: int | str | None) -> str:
    return "100%" if replicas is None else str(replicas)
