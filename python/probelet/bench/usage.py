"""What this process has used, all threads of it."""

import resource
from dataclasses import dataclass
from pathlib import Path

PAGE_BYTES = resource.getpagesize()


@dataclass(frozen=True)
class Usage:
    """Since the process began, or, as a difference, between two looks."""

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


def raise_file_limit() -> None:
    """A socket for each probe in flight: 20,000 a second that all hang are 20,000 files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
