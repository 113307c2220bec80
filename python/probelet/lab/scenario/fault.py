"""The faults of a scenario file: one type for each ``type`` of an entry of ``faults``.

Most are the faults of a cluster. A *pattern* is a name in which ``*``, ``?`` and ``[...]`` stand for others; a fault
strikes everything that matches. The types here are for what a file says in other terms than Python: lengths of time as
files write them, and changes of what the scenario says elsewhere.
"""

from typing import TypeAlias

from probelet.config.kubelet import DurationAboveZero
from probelet.lab.scenario.length import Length, Startup
from probelet.virtual.cluster.fault import (
    Deadlock,
    DependencyDown,
    Evict,
    Exit,
    Factor,
    Fault,
    GcPause,
    Lasting,
    MemoryLeak,
    NodeSlow,
    Partition,
    ProberRestart,
    ProberStarved,
    SlowLeak,
    StartupDrift,
    StartupSlow,
)


class OtherLatency(Lasting, frozen=True, tag="dependency-slow"):
    """A dependency answers later than usual."""

    dependency: str = ""
    """The dependency's name."""
    latency: Length = Length()
    """How long it takes to answer meanwhile."""


class OtherVersion(Fault, frozen=True, tag="rollout"):
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


class OtherTraffic(Lasting, frozen=True, tag="traffic-step"):
    """More requests, or fewer."""

    service: str = "*"
    """A pattern of Services. Default: all."""
    factor: Factor = 2.0
    """How many times as many requests. Default 2."""


AnyFault: TypeAlias = (
    OtherLatency
    | DependencyDown
    | Partition
    | NodeSlow
    | ProberStarved
    | ProberRestart
    | OtherVersion
    | OtherTraffic
    | Deadlock
    | Exit
    | GcPause
    | SlowLeak
    | MemoryLeak
    | StartupSlow
    | StartupDrift
    | Evict
)
