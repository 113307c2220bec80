"""What the processes around a container say of a command that the runtime would start in it.

A command of the runtime is a child of the shim: it has the shim's umask unless the specification names one, and the
limits with which the shim starts processes, unless the specification names others. The sandbox's process has exactly
those limits: it is started in the same way and changes none of them, as a container's own program may.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from probelet.execs.direct.container import Surroundings
from probelet.execs.direct.fallback import FallbackError, Reason
from probelet.execs.direct.limits import LIMITS

_PROC: Final = Path("/proc")


def surroundings(pid: int, sandbox_pid: int, sandbox_id: str) -> Surroundings:
    """Reads them. Raises FallbackError if a process has ended or is not the sandbox's."""
    try:
        start_time = _start_time((_PROC / str(pid) / "stat").read_text(errors="replace"))
        sandbox = _PROC / str(sandbox_pid)
        shim = _parent((sandbox / "stat").read_text(errors="replace"))
        umask = re.search(r"^Umask:\s+([0-7]+)$", (_PROC / str(shim) / "status").read_text(), re.MULTILINE)
        limits = tuple(_limits((sandbox / "limits").read_text()))
        # Last, so that what was read before was this process's.
        is_sandbox = sandbox_id in (sandbox / "cgroup").read_text()
    except (OSError, ValueError) as error:
        raise FallbackError(Reason.IDENTITY, f"its processes cannot be read: {error}") from None
    if umask is None or not is_sandbox:
        raise FallbackError(Reason.IDENTITY, f"process {sandbox_pid} is not the sandbox's")
    return Surroundings(start_time, int(umask[1], 8), limits)


def _limits(table: str) -> Iterator[tuple[int, int]]:
    """Soft and hard limits from ``/proc/PID/limits``, by number. prlimit(2) would need CAP_SYS_RESOURCE for a process
    of another user."""
    _, *rows = table.splitlines()
    if len(rows) != len(LIMITS):
        raise ValueError(f"/proc/PID/limits has {len(rows)} rows, not {len(LIMITS)}")
    for row in rows:
        soft, hard = row[_LIMIT_NAME_CHARS:].split()[:2]
        yield _limit(soft), _limit(hard)


_LIMIT_NAME_CHARS: Final = 26
"""The first column (fs/proc/base.c: ``proc_pid_limits``)."""


def _limit(value: str) -> int:
    return 2**64 - 1 if value == "unlimited" else int(value)


def _start_time(stat: str) -> int:
    """Field 22 of ``/proc/PID/stat``; the process chooses field 2, its name."""
    return int(_fields(stat)[22 - 3])


def _parent(stat: str) -> int:
    return int(_fields(stat)[4 - 3])


def _fields(stat: str) -> list[str]:
    """From field 3 on."""
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 22 - 2:
        raise ValueError(f"/proc/PID/stat has {len(fields)} fields")
    return fields
