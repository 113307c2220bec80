"""``probelet-bench/1``."""

from typing import Literal, TypedDict


class BenchDocument(TypedDict):
    """The cost of a load of probes."""

    schema: Literal["probelet-bench/1"]
    scenario: str
    """The kind of probe: ``http``, ``https``, ``tcp``, ``grpc`` or ``exec``."""
    workers: int
    """The pods, each with one probe (``--workers``)."""
    period_seconds: int
    """periodSeconds of the probes (``--period``)."""
    seconds: float
    """The length of the measured time."""
    probes: int
    """The attempts in the measured time."""
    probes_per_second: float
    """The attempts in a second."""
    cpu_us_per_probe: float | None
    """User and system time of this process for each attempt, in microseconds; null without attempts."""
    false_failures: int
    """Failed runs of workers whose target is well."""
    lateness_ms: dict[str, float]
    """How late the probes came: ``p50``, ``p99`` and ``max``."""
    lateness_stamped_by: Literal["prober", "target"]
    """Whether the target measured the lateness, at the arrival of a probe, or the prober."""
    bytes_per_worker: int
    """By how much the memory of this process grew for each worker."""
    add_ms: float
    """How long it took to add all workers."""
    remove_ms: float
    """How long it took to remove all workers."""
    wakeups_per_second: float
    """How often this process went to sleep and woke up in a second."""
