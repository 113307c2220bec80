"""Processes of a container that sleep, as the machine sees them."""

from contextlib import suppress
from pathlib import Path


def sleepers_of(container_id: str) -> list[int]:
    """Processes in the container's cgroup that sleep."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_inside = container_id in (process / "cgroup").read_text()
            if is_inside and (process / "cmdline").read_bytes().startswith(b"sleep\0"):
                found.append(int(process.name))
    return found


def commands_of(container_id: str, seconds: bytes) -> list[int]:
    """Processes in the container's cgroup that sleep for so long."""
    found = []
    for pid in sleepers_of(container_id):
        with suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\0" + seconds + b"\0":
                found.append(pid)
    return found
