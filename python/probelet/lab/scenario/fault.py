"""The faults of a scenario file: one type for each ``type`` of an entry of ``faults``.

A *pattern* is a name in which ``*``, ``?`` and ``[...]`` stand for others; a fault strikes everything that matches.
"""

from typing import Annotated, TypeAlias

import msgspec

from probelet.config.kubelet import Count, Duration, DurationAboveZero, Section
from probelet.lab.scenario.length import AboveZero, Length, Startup


class Timed(Section, frozen=True, kw_only=True, tag_field="type"):
    """Something that happens at a time."""

    at: Duration = 0
    """When it begins, from the beginning of the traffic on. Default 0s."""


class Lasting(Timed, frozen=True, kw_only=True):
    """Something that lasts."""

    lasts: DurationAboveZero | None = None
    """How long it lasts. Default: until the end."""


class DependencySlow(Lasting, frozen=True, kw_only=True, tag="dependency-slow"):
    """A dependency answers later than usual."""

    dependency: str = ""
    """The dependency's name."""
    latency: Length = Length()
    """How long it takes to answer meanwhile."""


class DependencyDown(Lasting, frozen=True, kw_only=True, tag="dependency-down"):
    """A dependency does not answer."""

    dependency: str = ""
    """The dependency's name."""
    hangs: bool = False
    """False (default): it refuses, so that what asks it fails at once. True: what asks it waits for its timeout."""


class Partition(Lasting, frozen=True, kw_only=True, tag="partition"):
    """A part of the network does not reach the rest: what goes between hangs."""

    cut: str = ""
    """A pattern of workloads, if a dependency is given, or of nodes: what is cut off."""
    dependency: str | None = None
    """From this dependency alone. Default: a node from everything but its own prober."""


class NodeSlow(Lasting, frozen=True, kw_only=True, tag="node-slow"):
    """Everything on a node takes longer: requests, probes, and start-ups that begin meanwhile."""

    node: str = "node-0"
    """A pattern of nodes (`node-0`, `node-1` ...). Default: `node-0`."""
    factor: AboveZero = 4.0
    """How many times as long. Default 4."""


class ProberStarved(Lasting, frozen=True, kw_only=True, tag="prober-starved"):
    """A node's prober gets too little CPU, and reads each answer late."""

    node: str = "node-0"
    """A pattern of nodes. Default: `node-0`."""
    late: DurationAboveZero | None = None
    """How late; an answer that it reads after the probe's timeout is a timeout."""


class ProberRestart(Timed, frozen=True, kw_only=True, tag="prober-restart"):
    """A node's prober is restarted, as with its kubelet: its counts and results are lost, containers run on."""

    node: str = "*"
    """A pattern of nodes. Default: all."""
    down: Duration = 2_000_000_000
    """How long it makes no probe. Default 2s."""
    restore: bool = False
    """Keep what probelet's journal keeps (`restore: full`). Default false, as the kubelet."""


class Rollout(Timed, frozen=True, kw_only=True, tag="rollout"):
    """A workload gets a new version, which may behave otherwise."""

    workload: str = "*"
    """A pattern of workloads. Default: all that can be rolled out."""
    startup: Startup | None = None
    """The start-up time of the new version. Default: as before."""
    latency: Length | None = None
    """The latency of the new version. Default: as before."""
    probe_latency: Length | None = None
    """The time of a probe of the new version, without waiting and without dependencies. Default: as before."""
    exits_after: DurationAboveZero | None = None
    """Each container of the new version exits with code 1 after running for so long. Default: never."""


class TrafficStep(Lasting, frozen=True, kw_only=True, tag="traffic-step"):
    """More requests, or fewer."""

    service: str = "*"
    """A pattern of Services. Default: all."""
    factor: AboveZero = 2.0
    """How many times as many requests. Default 2."""


class Struck(Timed, frozen=True, kw_only=True):
    """Something that happens to containers of some pods."""

    container: str = "*"
    """A pattern of `workload` or `workload/container`. Default: all."""
    replicas: Count | None = None
    """In how many pods of each workload, those with the first names first. Default: in all."""


class Deadlock(Struck, frozen=True, kw_only=True, tag="deadlock"):
    """Processes go on running and answer nothing any more, until they are restarted."""


class Exit(Struck, frozen=True, kw_only=True, tag="exit"):
    """Processes end by themselves."""

    code: Annotated[int, msgspec.Meta(ge=0, le=255)] = 1
    """The exit code. Default 1."""


class Growing(Lasting, frozen=True, kw_only=True):
    """Something that happens to all containers that match, and lasts."""

    container: str = "*"
    """A pattern of `workload` or `workload/container`. Default: all."""


class GcPause(Growing, frozen=True, kw_only=True, tag="gc-pause"):
    """Processes stand still once in each period: nothing is answered until the pause is over."""

    pause: DurationAboveZero | None = None
    """How long each takes."""
    every: DurationAboveZero = 60_000_000_000
    """The period. Each container has a phase of its own in it. Default 1m."""


class Leak(Growing, frozen=True, kw_only=True, tag="leak"):
    """Processes become slower until they are restarted."""

    per_hour: DurationAboveZero | None = None
    """How much longer each request and probe takes with each hour of the container's life."""


class MemoryLeak(Growing, frozen=True, kw_only=True, tag="memory-leak"):
    """Processes use more memory until they are restarted; at the limit they are killed, with exit code 137."""

    per_hour: str = ""
    """How much more with each hour of the container's life, as a Kubernetes quantity: `256Mi`."""
    limit: str = ""
    """The limit, as a Kubernetes quantity."""


class StartupSlow(Growing, frozen=True, kw_only=True, tag="startup-slow"):
    """Start-ups that begin meanwhile take longer."""

    more: DurationAboveZero | None = None
    """How much longer."""


class StartupDrift(Growing, frozen=True, kw_only=True, tag="startup-drift"):
    """Start-ups take longer with each day."""

    per_day: DurationAboveZero | None = None
    """How much longer for each day since the fault began."""


class Evict(Timed, frozen=True, kw_only=True, tag="evict"):
    """Pods are evicted, as by a drain of their nodes. PodDisruptionBudgets count."""

    workload: str = "*"
    """A pattern of workloads. Default: all."""
    replicas: Count | None = None
    """How many pods of each workload. Default: all."""


Fault: TypeAlias = (
    DependencySlow
    | DependencyDown
    | Partition
    | NodeSlow
    | ProberStarved
    | ProberRestart
    | Rollout
    | TrafficStep
    | Deadlock
    | Exit
    | GcPause
    | Leak
    | MemoryLeak
    | StartupSlow
    | StartupDrift
    | Evict
)
