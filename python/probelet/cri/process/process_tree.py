"""The process table seen as a family: who descends from whom, and how to end a whole family."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""From linux/prctl.h."""

LOOK_AGAIN_SECONDS = 0.001
"""Between two looks at a family that is being killed: what a killed process needs to go."""

REAPED_AT_ONCE_MAX = 256
"""Children may exit as fast as they are reaped; there is other work."""

CHILDREN_FILE = "/proc/thread-self/children"
HAS_CHILDREN_FILE = Path(CHILDREN_FILE).exists()

READ_BYTES = 16 * 1024
"""One read takes a row of the process table and nearly every environment."""


@dataclass(frozen=True, slots=True)
class Process:
    """One row of the process table."""

    pid: int
    parent: int
    group: int
    session: int
    alive: bool


def become_subreaper() -> None:
    """From now on orphaned descendants become children of this process instead of init's."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl PR_SET_CHILD_SUBREAPER")


def parsed(stat: bytes) -> Process:
    """A row from the text of /proc/PID/stat. The command name in parentheses may hold anything, even parentheses."""
    head, _, tail = stat.rpartition(b")")
    state, parent, group, session = tail.split(None, 4)[:4]
    pid = int(head.split(None, 1)[0])
    return Process(pid, int(parent), int(group), int(session), state not in (b"Z", b"X"))


def processes() -> dict[int, Process]:
    """Every process of the machine by pid."""
    table = {}
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and (stat := _content(f"/proc/{entry.name}/stat")):
                row = parsed(stat)
                table[row.pid] = row
    return table


def _content(path: str) -> bytes:
    """A file of /proc; empty when its process is gone by now, which is as good as never seen, or not ours."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    parts = []
    try:
        while part := os.read(fd, READ_BYTES):
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(fd)
    return b"".join(parts)


def families(roots: Iterable[int], table: dict[int, Process]) -> list[Process]:
    """The living processes of the table that are or descend from ``roots``."""
    children: dict[int, list[int]] = {}
    for row in table.values():
        children.setdefault(row.parent, []).append(row.pid)
    found, waiting = [], list(roots)
    while waiting:
        pid = waiting.pop()
        waiting.extend(children.get(pid, ()))
        if pid in table and table[pid].alive:
            found.append(table[pid])
    return found


def descendants(pid: int) -> list[Process]:
    """The living descendants of a process."""
    return [row for row in families([pid], processes()) if row.pid != pid]


def environment_of(pid: int) -> dict[bytes, bytes]:
    """What a process was started with; empty when it is gone or not ours to read."""
    pairs = (entry.partition(b"=") for entry in _content(f"/proc/{pid}/environ").split(b"\0"))
    return {key: value for key, equals, value in pairs if equals}


def signal_group(group: int, number: int) -> None:
    """Signal a process group; one that is gone is ignored."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def kill(pid: int) -> None:
    """SIGKILL a process and its group: the kernel ends a group at once, so none of it forks away meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group not in (0, os.getpgrp()):
            signal_group(group, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)


def children() -> list[int]:
    """The children of this process, those that have exited and wait to be reaped included.

    One small file, where the kernel has it (CONFIG_PROC_CHILDREN, in every distribution's): fast enough to catch a
    process that forks and exits in turn. Orphans fall to the main thread, which also starts our own children.
    """
    if HAS_CHILDREN_FILE:
        return [int(pid) for pid in _content(CHILDREN_FILE).split()]
    return [row.pid for row in processes().values() if row.parent == os.getpid()]


def reap() -> tuple[int, bool]:
    """Collect children that have exited; returns how many, and whether there are more children, of any kind."""
    for collected in range(REAPED_AT_ONCE_MAX):
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return collected, True
        except ChildProcessError:
            return collected, False
    return REAPED_AT_ONCE_MAX, True


def kill_descendants(limit: float) -> list[Process]:
    """SIGKILL every descendant of this process, a subreaper, at most ``limit`` seconds long.

    Killing children is enough: theirs become ours. That no child is left is the kernel's word (ECHILD), not a look
    at a table that something may slip through. Returns what is still there: processes in an uninterruptible system
    call, or of another user.
    """
    deadline = time.monotonic() + limit
    while True:
        for pid in children():
            kill(pid)
        collected, more = reap()
        if not more:
            return []
        if time.monotonic() > deadline:
            return descendants(os.getpid())
        if not collected:
            time.sleep(LOOK_AGAIN_SECONDS)
