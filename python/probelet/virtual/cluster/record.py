"""The history of a cluster. Times are seconds since t = 0, with at most three decimals; a name is the cluster's."""

from typing import Literal, TypeAlias

import msgspec

from probelet.spec.model.probe import ProbeType

PodState: TypeAlias = Literal["pending", "starting", "unready", "ready", "terminating", "back_off", "gone"]
"""``pending``: no container has run yet. ``starting``: containers run, and the pod was not ready since the latest
start. ``unready``: it was. ``back_off``: a container waits for its restart. ``terminating``: the pod is being
deleted."""


class Span(msgspec.Struct, frozen=True):
    """A pod's state from one time to another."""

    state: PodState
    """The state."""
    start: float
    """When it began, seconds since t = 0."""
    end: float
    """The present, for the state that it is in."""


class Attempt(msgspec.Struct, frozen=True):
    """One try of a probe."""

    at: float
    """When it began."""
    took: float
    """How long it took, in seconds; a timeout takes the probe's ``timeoutSeconds``."""
    outcome: Literal["success", "failure", "timeout", "error"]
    """How it ended."""
    cause: str
    """Why it ended so: ``ok``, ``refused``, ``header_timeout``, ``connect_timeout``, ``status``, ``grpc_status``,
    ``exec_exit``, ``exec_timeout`` or ``starved``; the causes of every probelet document."""
    why: str
    """The cause: empty, or ``starting``, ``load``, ``deadlock``, ``pause``, ``leak``, ``latency``, ``prober``,
    ``exited``, or the name of the dependency that was slow or down."""


class ProbeRecord(msgspec.Struct, frozen=True):
    """A probe of a container, and its attempts."""

    container: str
    """The container's own name."""
    type: ProbeType
    """``startup``, ``readiness`` or ``liveness``."""
    timeout_seconds: int
    """``timeoutSeconds``."""
    period_seconds: int
    """``periodSeconds``."""
    failure_threshold: int
    """``failureThreshold``."""
    attempts: list[Attempt]
    """Oldest first, at most as many as ``attempts`` of ``VirtualCluster`` says, and fewer in a cluster with hundreds of
    probes. Changes are kept first, then failures, then successes that repeat themselves."""
    made: int
    """All attempts, kept or not."""
    failed: int
    """All that were no success."""


class Kill(msgspec.Struct, frozen=True):
    """A verdict of a probe that has a container killed; the preStop hook and the grace come after it."""

    at: float
    """When the probe failed for the last time."""
    pod: str
    """The pod's name."""
    container: str
    """The container's own name."""
    probe_type: Literal["liveness", "startup"]
    """Readiness probes kill nothing."""
    reason: str
    """The message of the kubelet's event Unhealthy for the attempt that decided."""


class Exited(msgspec.Struct, frozen=True):
    """The end of a container."""

    at: float
    """When."""
    pod: str
    """The pod's name."""
    container: str
    """The container's own name."""
    exit_code: int
    """137 if it was killed, whether at SIGTERM or at SIGKILL."""
    reason: str
    """The reason in the container's status: ``Completed``, ``Error``, ``OOMKilled``."""


class Event(msgspec.Struct, frozen=True):
    """An event of Kubernetes. Equal events of a probe in one streak of failures are one, the first."""

    at: float
    """When."""
    pod: str
    """Empty for an event of a workload."""
    reason: str
    """Kubernetes' word."""
    message: str
    """Kubernetes' text."""
    type: Literal["Normal", "Warning"] = "Warning"
    """``Normal`` or ``Warning``."""
    container: str = ""
    """The container's own name; empty if the event is about the pod."""
    workload: str = ""
    """The workload's name, for an event of a workload."""


class PodRecord(msgspec.Struct, frozen=True):
    """One pod's life."""

    name: str
    """The pod's name."""
    workload: str
    """The workload's name."""
    node: str
    """The node's name."""
    version: int
    """The revision of its workload, from 1."""
    spans: list[Span]
    """Its states, one after the other, from its creation on."""
    restarts: int
    """How often its containers were started again."""
    kills: list[Kill]
    """Oldest first."""
    exits: list[Exited]
    """Oldest first."""
    probes: list[ProbeRecord]
    """The probes that have made an attempt."""


class Requests(msgspec.Struct, frozen=True):
    """Requests that were counted; ``offered`` is ``served`` and ``lost`` together, and ``late`` ones are served."""

    offered: float = 0.0
    """All requests."""
    served: float = 0.0
    """Answered within the client's timeout."""
    late: float = 0.0
    """Served, and later than the Service's ``slo``."""
    lost: float = 0.0
    """All others."""
    lost_by: dict[str, float] = msgspec.field(default_factory=dict)
    """``lost`` by reason: ``no_endpoint``; ``not_serving``, sent to a pod that is gone, stands still or is cut off;
    ``queue_full``; ``timeout``, later than the client waits; ``dependency``, one is down; ``ended``, held by a
    container that ended."""


class LoadStep(msgspec.Struct, frozen=True):
    """Requests a second, on average from ``start`` to ``end``. The steps of a Service follow each other."""

    start: float
    """From when."""
    end: float
    """Until when."""
    offered: float
    """Offered."""
    served: float
    """Served."""
    late: float
    """Of these, later than the ``slo``."""
    lost: float
    """Lost."""


class ServiceRecord(msgspec.Struct, frozen=True):
    """A Service that is offered requests."""

    name: str
    """The Service's name."""
    workload: str
    """The first workload whose pods it selects."""
    timeout_seconds: float
    """How long a client waits."""
    slo_seconds: float
    """A request that takes longer is late."""
    totals: Requests
    """All requests so far."""
    load: list[LoadStep]
    """At most 4,096 steps of one width, of which the last may be shorter."""
    endpoints: list[tuple[float, int]]
    """From each time on, how many endpoints."""
    wanted: list[tuple[float, int]]
    """From each time on, how many replicas the workload should have."""


class FaultSpan(msgspec.Struct, frozen=True):
    """A fault, for a band of a picture."""

    kind: str
    """Its name, such as ``dependency-slow``."""
    target: str
    """The target."""
    label: str
    """The fault in a few words."""
    start: float
    """When it begins."""
    end: float | None
    """None: it lasts until the end. A fault of a moment ends where it begins."""


class History(msgspec.Struct, frozen=True):
    """All that a cluster has seen until ``now``; a copy that does not change."""

    seed: int
    """The seed that plays it again."""
    now: float
    """Until when."""
    pods: list[PodRecord]
    """In the order in which they were created, gone ones among them."""
    services: list[ServiceRecord]
    """The Services with traffic."""
    events: list[Event]
    """Oldest first, at most ``EVENTS_MAX``."""
    events_dropped: int
    """Events beyond ``EVENTS_MAX``; the latest are dropped."""
    faults: list[FaultSpan]
    """In the order in which they were given."""
    kills: list[Kill]
    """Of all pods, oldest first."""
    exits: list[Exited]
    """Of all pods, oldest first."""
