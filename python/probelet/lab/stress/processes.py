"""The cost of processes, from /proc."""

import os
import re
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of everything below it, the children it has waited for included."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        # The process has ended meanwhile; the kernel has added its time to the parent that waited for it.
        return 0
    return sum(map(int, fields[11:15])) / TICKS + sum(cpu_seconds(int(child)) for child in below)


def resident_bytes() -> tuple[int, int]:
    """This process's memory, now and at most."""
    status = Path("/proc/self/status").read_text()
    now, most = (re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE) for name in ("VmRSS", "VmHWM"))
    return int(now[1]) * 1024 if now else 0, int(most[1]) * 1024 if most else 0
