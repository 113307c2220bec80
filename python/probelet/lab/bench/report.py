"""Formats a measurement for a person."""

from probelet.lab.bench.document import BenchDocument


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
