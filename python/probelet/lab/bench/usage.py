"""The resources that this process has used, in all its threads."""

import resource
from dataclasses import dataclass
from pathlib import Path

PAGE_BYTES = resource.getpagesize()


@dataclass(frozen=True)
class Usage:
    """The use since the process's start, or, as a difference, between two readings."""

    cpu_seconds: float
    """User and system time."""
    wakeups: int
    """Voluntary context switches."""

    def __sub__(self, earlier: "Usage") -> "Usage":
        return Usage(self.cpu_seconds - earlier.cpu_seconds, self.wakeups - earlier.wakeups)


def usage() -> Usage:
    seen = resource.getrusage(resource.RUSAGE_SELF)
    return Usage(seen.ru_utime + seen.ru_stime, seen.ru_nvcsw)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
