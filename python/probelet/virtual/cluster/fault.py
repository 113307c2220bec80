"""The faults of a cluster: what happens at a time.

Each has ``at``, when it begins, and ``lasts``, how long it is; None: until the end. Both are durations as Go writes
them, ``at`` from t = 0. A *target* is a workload (``web``) or one of its containers (``web/app``); a workload stands
for all its regular containers. ``replicas`` is how many of the target's pods a fault hits, a number or a percentage
rounded up, the ones with the first names first. A node is called ``node-0``, ``node-1`` and so on; ``*`` stands for
every node.

``Cluster.fault`` checks the names and raises ``ClusterError`` for an unknown one.
"""

from typing import ClassVar

import msgspec

from probelet.errors import ClusterError
from probelet.virtual.cluster.behaviour import Behaviour, Pause, Spread, check_pause, check_spread
from probelet.virtual.cluster.duration import nanoseconds, positive, share

ALL = "100%"


class Fault(msgspec.Struct, frozen=True):
    """Base of all faults.

    Raises:
        ClusterError: a value is impossible; the text names the field, the value and what is allowed.
    """

    kind: ClassVar[str] = ""
    """The fault's name in scenarios and documents, such as ``dependency-slow``."""

    @property
    def target(self) -> str:
        """The target of the fault: the name of a dependency, Service, workload, container or node."""
        return str(getattr(self, self.__struct_fields__[0]))

    @property
    def label(self) -> str:
        """The fault in a few words, for a band of a picture."""
        raise NotImplementedError


class _Timed(Fault, frozen=True, kw_only=True):
    at: str = "0s"
    """When it begins."""
    lasts: str | None = None
    """How long it is; None: until the end."""

    def __post_init__(self) -> None:
        nanoseconds("at", self.at)
        if self.lasts is not None:
            positive("lasts", self.lasts)


class _Momentary(Fault, frozen=True, kw_only=True):
    at: str = "0s"
    """When it happens."""

    def __post_init__(self) -> None:
        nanoseconds("at", self.at)


class DependencySlow(_Timed, frozen=True):
    """A dependency takes this long instead of its own latency."""

    kind = "dependency-slow"
    dependency: str
    """Its name."""
    latency: Spread
    """How long it takes meanwhile."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_spread("latency", self.latency)

    @property
    def label(self) -> str:
        """Such as ``auth slow: 1.5s``."""
        return f"{self.dependency} slow: {_shown(self.latency)}"


class DependencyDown(_Timed, frozen=True):
    """A dependency refuses, so that a request or probe that asks it fails at once; or it ``hangs``, and they wait."""

    kind = "dependency-down"
    dependency: str
    """Its name."""
    hangs: bool = False
    """Whether it does not answer at all, instead of refusing."""

    @property
    def label(self) -> str:
        """Such as ``auth down``."""
        return f"{self.dependency} {'hangs' if self.hangs else 'down'}"


class Partition(_Timed, frozen=True):
    """A network partition: what goes between hangs.

    With ``dependency``, between the ``cut`` workload or node and this dependency. Without, the ``cut`` is a node that
    is alone: requests to its pods are lost, its pods reach no dependency, and its endpoints stay, because its kubelet
    cannot report. Probes come from the pod's own node and go on.
    """

    kind = "partition"
    cut: str
    """A workload or a node."""
    dependency: str | None = None
    """The dependency that it does not reach; None: a node is alone."""

    @property
    def label(self) -> str:
        """Such as ``web cut off from auth``."""
        return f"{self.cut} cut off" + (f" from {self.dependency}" if self.dependency else "")


class NodeSlow(_Timed, frozen=True):
    """Containers of a node take ``factor`` times as long: latencies, and start-ups that begin meanwhile."""

    kind = "node-slow"
    node: str
    """Its name, or ``*``."""
    factor: float = 4.0
    """From 0.01 to 1000."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.01 <= self.factor <= 1_000:
            raise ClusterError(f"factor: {self.factor}: must be from 0.01 to 1000")

    @property
    def label(self) -> str:
        """Such as ``node-1 slow: x 4``."""
        return f"{self.node} slow: x {self.factor:g}"


class ProberStarved(_Timed, frozen=True):
    """A node's prober reads each answer ``late``; one that it reads after the probe's timeout is a timeout."""

    kind = "prober-starved"
    node: str
    """Its name, or ``*``."""
    late: str = "1s"
    """How late its prober reads an answer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("late", self.late)

    @property
    def label(self) -> str:
        """Such as ``prober of node-1 starved: 1s late``."""
        return f"prober of {self.node} starved: {self.late} late"


class ProberRestart(_Momentary, frozen=True):
    """A node's prober is restarted, as with its kubelet: it makes no probe for ``down``, then knows no result, counter
    or back-off of its own. Containers run on. ``restore`` keeps what probelet's journal keeps (``restore: full``)."""

    kind = "prober-restart"
    node: str = "*"
    """Its name, or ``*``."""
    down: str = "2s"
    """How long it makes no probe."""
    restore: bool = False
    """Whether it knows afterwards what it knew before."""

    def __post_init__(self) -> None:
        super().__post_init__()
        nanoseconds("down", self.down)

    @property
    def label(self) -> str:
        """Such as ``prober of node-1 restarted``."""
        return f"prober of {self.node} restarted"


class Rollout(_Momentary, frozen=True):
    """A workload gets a new version: the same template, whose containers behave as ``behaviour`` says.

    ``Cluster.apply`` of a workload with another template is a rollout too.
    """

    kind = "rollout"
    workload: str
    """Its name."""
    behaviour: Behaviour | None = None
    """Of the regular containers of the new version; None: as those of the old one."""

    @property
    def label(self) -> str:
        """Such as ``rollout of web``."""
        return f"rollout of {self.workload}"


class TrafficStep(_Timed, frozen=True):
    """A Service is offered ``rate`` requests a second."""

    kind = "traffic-step"
    service: str
    """A Service with traffic."""
    rate: float
    """Requests a second, from 0 to 1e9."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.rate <= 1e9:
            raise ClusterError(f"rate: {self.rate}: must be from 0 to 1e9 requests a second")

    @property
    def label(self) -> str:
        """Such as ``web: 500 requests/s``."""
        return f"{self.service}: {self.rate:g} requests/s"


class Deadlock(_Momentary, frozen=True):
    """Containers stand still until they are restarted: the port is open and nothing answers."""

    kind = "deadlock"
    container: str
    """The target."""
    replicas: int | str = ALL
    """How many of its pods."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share("replicas", self.replicas, 1)

    @property
    def label(self) -> str:
        """Such as ``deadlock in web/app (50%)``."""
        return f"deadlock in {self.container} ({self.replicas})"


class SlowLeak(_Timed, frozen=True):
    """Containers get slower while they run: ``per_hour`` is added to their latency in each hour of their life."""

    kind = "leak"
    container: str
    """The target."""
    per_hour: str = "100ms"
    """The latency added in an hour, in steps of ten seconds."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("per_hour", self.per_hour)

    @property
    def label(self) -> str:
        """Such as ``web/app leaks: 100ms an hour``."""
        return f"{self.container} leaks: {self.per_hour} an hour"


class MemoryLeak(_Timed, frozen=True):
    """Containers need ``per_hour`` more memory in each hour of their life, and are killed at ``limit`` (exit 137).

    It counts from a container's start, or from its own beginning for a container that runs already.
    """

    kind = "memory-leak"
    container: str
    """The target."""
    per_hour: str = "256Mi"
    """Memory that an hour adds, as a Kubernetes quantity."""
    limit: str = "512Mi"
    """Memory at which a container is killed."""

    @property
    def label(self) -> str:
        """Such as ``web/app leaks: 256Mi an hour``."""
        return f"{self.container} leaks: {self.per_hour} an hour"


class GcPause(_Timed, frozen=True):
    """Containers stop for ``pause``, once in each period of ``every``."""

    kind = "gc-pause"
    container: str
    """The target."""
    pause: str = "2s"
    """How long one pause is; less than ``every``."""
    every: str = "60s"
    """From the beginning of a pause to that of the next."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pause("pause", Pause(self.pause, self.every))

    @property
    def label(self) -> str:
        """Such as ``web/app pauses for 2s every 60s``."""
        return f"{self.container} pauses for {self.pause} every {self.every}"


class Exit(_Momentary, frozen=True):
    """Containers end by themselves, as in a crash; they run again when policy and back-off allow."""

    kind = "exit"
    container: str
    """The target."""
    replicas: int | str = ALL
    """How many of its pods."""
    code: int = 1
    """The exit code, from 0 to 255."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share("replicas", self.replicas, 1)
        if not 0 <= self.code <= 255:
            raise ClusterError(f"code: {self.code}: must be from 0 to 255")

    @property
    def label(self) -> str:
        """Such as ``web/app exits (100%)``."""
        return f"{self.container} exits ({self.replicas})"


class StartupSlow(_Timed, frozen=True):
    """Start-ups that begin meanwhile take ``more`` time."""

    kind = "startup-slow"
    container: str
    """The target."""
    more: str = "30s"
    """How much longer a start-up takes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("more", self.more)

    @property
    def label(self) -> str:
        """Such as ``web/app starts 30s later``."""
        return f"{self.container} starts {self.more} later"


class StartupDrift(_Timed, frozen=True):
    """Start-ups that begin meanwhile take ``per_day`` longer for each day since the fault began."""

    kind = "startup-drift"
    container: str
    """The target."""
    per_day: str = "5s"
    """How much longer a start-up takes for each day."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("per_day", self.per_day)

    @property
    def label(self) -> str:
        """Such as ``start-up of web/app drifts: 5s a day``."""
        return f"start-up of {self.container} drifts: {self.per_day} a day"


class Evict(_Momentary, frozen=True):
    """Pods are evicted, as a drain does, and their workload replaces them. PodDisruptionBudgets are asked: an eviction
    that one refuses is tried again every five seconds, as ``kubectl drain`` does."""

    kind = "evict"
    workload: str
    """Its name."""
    replicas: int | str = ALL
    """How many of its pods."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share("replicas", self.replicas, 1)

    @property
    def label(self) -> str:
        """Such as ``eviction of web (1)``."""
        return f"eviction of {self.workload} ({self.replicas})"


def _shown(spread: Spread) -> str:
    return spread if isinstance(spread, str) else ", ".join(f"{key} {value}" for key, value in spread.items())
