"""The attributes of a command that the runtime would start in a container, read from the processes around it.

A command of the runtime is a child of the shim: it has the shim's nice value, its umask unless the specification names
one, and the limits with which the shim starts processes, unless the specification names others. The sandbox's process
has exactly those limits: it is started in the same way and changes none of them, as a container's own program may.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from probelet.runtime.execs.direct.container import InheritedAttributes
from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.limits import LIMITS

_PROC: Final = Path("/proc")


def inherited_attributes(pid: int, sandbox_pid: int, sandbox_id: str) -> InheritedAttributes:
    """Reads them. Raises FallbackError if a process has ended, is not the sandbox's, or gives commands a place among
    the processors that is not the default one."""
    try:
        start_time = int(_fields(pid)[_START_TIME])
        shim = int(_fields(sandbox_pid)[_PARENT])
        of_shim = _fields(shim)
        nice, policy, shim_start_time = (int(of_shim[place]) for place in (_NICE, _POLICY, _START_TIME))
        cpus = os.sched_getaffinity(shim)
        umask = re.search(r"^Umask:\s+([0-7]+)$", (_PROC / str(shim) / "status").read_text(), re.MULTILINE)
        limits = tuple(_limits((_PROC / str(sandbox_pid) / "limits").read_text()))
        # Last, so that what was read before was this process's.
        is_sandbox = sandbox_id in (_PROC / str(sandbox_pid) / "cgroup").read_text()
        # A parent that has ended is never a parent again, so that the PID was the shim's all the time.
        is_sandbox &= int(_fields(sandbox_pid)[_PARENT]) == shim
    except (OSError, ValueError, IndexError) as error:
        raise FallbackError(Reason.IDENTITY, f"its processes cannot be read: {error}") from None
    if umask is None or not is_sandbox:
        raise FallbackError(Reason.IDENTITY, f"process {sandbox_pid} is not the sandbox's")
    if policy != os.SCHED_OTHER or len(cpus) < (os.cpu_count() or 1):
        raise FallbackError(Reason.LIMITS, f"the runtime has scheduling policy {policy} and {len(cpus)} CPUs")
    return InheritedAttributes(start_time, int(umask[1], 8), nice, limits, shim, shim_start_time)


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


def _fields(pid: int) -> list[str]:
    """Fields of ``/proc/PID/stat`` from the third on; the process chooses the second one, its name."""
    return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()


_PARENT: Final = 4 - 3
_NICE: Final = 19 - 3
_START_TIME: Final = 22 - 3
_POLICY: Final = 41 - 3
"""Places in that list (proc_pid_stat(5))."""
