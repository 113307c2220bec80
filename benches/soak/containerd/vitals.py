"""Reads the memory and the file descriptors of a running process."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Vitals:
    """Resident memory in KiB, open file descriptors, and epoll instances, which are not among those.

    probelet keeps one epoll instance for each attempt that was ever in flight at once, at most one a probe.
    """

    resident: int
    descriptors: int
    epolls: int


def vitals(pid: int) -> Vitals:
    """Reads the vitals of a process. Raises OSError if it is gone."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
    opened = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            opened.append(str(entry.readlink()))
    epolls = opened.count("anon_inode:[eventpoll]")
    return Vitals(resident, len(opened) - epolls, epolls)
