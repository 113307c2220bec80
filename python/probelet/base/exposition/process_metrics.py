"""CPU and memory of this process, under the names that every Prometheus client uses."""

import os
import resource
from pathlib import Path


def render_process() -> bytes:
    """``process_cpu_seconds_total`` and ``process_resident_memory_bytes`` (man 5 proc)."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    lines = [
        "# HELP process_cpu_seconds_total CPU time of this process, user and system.",
        "# TYPE process_cpu_seconds_total counter",
        f"process_cpu_seconds_total {usage.ru_utime + usage.ru_stime:.6f}",
        "# HELP process_resident_memory_bytes Memory of this process.",
        "# TYPE process_resident_memory_bytes gauge",
        f"process_resident_memory_bytes {pages * os.sysconf('SC_PAGE_SIZE')}",
    ]
    return ("\n".join(lines) + "\n").encode()
