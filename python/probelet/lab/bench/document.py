"""A measurement as a document, ``probelet-bench/1``, and as lines for a person."""

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


def report(seen: BenchDocument, where: str) -> list[str]:
    """Lines of at most 80 columns. ``where`` is the target."""
    late, cpu, by = seen["lateness_ms"], seen["cpu_us_per_probe"], seen["lateness_stamped_by"]
    rows = {
        "probes": f"{seen['probes']:,}, {seen['probes_per_second']:,.1f} a second",
        "false failures": f"{seen['false_failures']:,}",
        "CPU": "no probe was due" if cpu is None else f"{cpu:.1f} us a probe, user and system",
        "late": f"p50 {late['p50']:.2f} ms, p99 {late['p99']:.2f} ms, max {late['max']:.2f} ms (stamped by the {by})",
        "memory": f"{seen['bytes_per_worker']:,} bytes a worker above its pod",
        "wake-ups": f"{seen['wakeups_per_second']:,.0f} a second",
        "workers": f"added in {seen['add_ms']:,.0f} ms, removed in {seen['remove_ms']:,.0f} ms",
    }
    head = f"{seen['scenario']}: {seen['workers']:,} workers at {seen['period_seconds']} s"
    return [f"{head} for {seen['seconds']:.1f} s, {where}", *(f"  {name:<15}{text}" for name, text in rows.items())]
