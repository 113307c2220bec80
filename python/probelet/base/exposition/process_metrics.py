"""CPU and memory of this process, under the names that every Prometheus client uses."""

import os
import resource
from pathlib import Path

from probelet.base.exposition.family import counter, gauge, page


def render_process() -> bytes:
    """``process_cpu_seconds_total`` and ``process_resident_memory_bytes`` (man 5 proc)."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return page(
        counter(
            "process_cpu_seconds_total",
            "CPU time of this process, user and system.",
            f"{usage.ru_utime + usage.ru_stime:.6f}",
        ),
        gauge("process_resident_memory_bytes", "Memory of this process.", pages * os.sysconf("SC_PAGE_SIZE")),
    )
