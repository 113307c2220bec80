"""The process table as a tree: finds the descendants of a process, and kills all of them."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

PR_SET_CHILD_SUBREAPER = 36
"""From linux/prctl.h."""

LOOK_AGAIN_SECONDS = 0.001
"""Pause between two searches during a kill: the time that a killed process needs to exit."""

REAPED_AT_ONCE_MAX = 256
"""Limit of one call of ``reap``: children may exit as fast as it reaps, and the loop has other work."""

CHILDREN_FILE = "/proc/thread-self/children"
HAS_CHILDREN_FILE = Path(CHILDREN_FILE).exists()

RELAY_SECONDS = 30.0
"""Time for processes that appear as fast as others are killed; longer than any was seen to need on a busy machine."""

READ_BYTES = 16 * 1024
"""One read of this size holds an entry of the process table and nearly every environment."""


class Process(msgspec.Struct, frozen=True):
    """One entry of the process table."""

    pid: int
    parent: int
    group: int
    session: int
    alive: bool


def become_subreaper() -> None:
    """Makes this process, instead of init, the parent of its orphaned descendants."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl PR_SET_CHILD_SUBREAPER")


def parsed(stat: bytes) -> Process:
    """Parses /proc/PID/stat. The command name in parentheses may contain anything, even parentheses."""
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
    """The content of a file in /proc; empty if the process is gone or belongs to another user."""
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


def living_descendants(roots: Iterable[int], table: dict[int, Process]) -> list[Process]:
    """The living processes in ``table`` that are in ``roots`` or descend from them."""
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
    return [row for row in living_descendants([pid], processes()) if row.pid != pid]


def environment_of(pid: int) -> dict[bytes, bytes]:
    """The environment a process was started with; empty if it is gone or unreadable for us."""
    pairs = (entry.partition(b"=") for entry in _content(f"/proc/{pid}/environ").split(b"\0"))
    return {key: value for key, equals, value in pairs if equals}


def signal_group(group: int, number: int) -> None:
    """Signals a process group; ignores a group that is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def kill(pid: int) -> None:
    """SIGKILLs a process and its group: the kernel ends a group at once, so no member can fork away."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group not in (0, os.getpgrp()):
            signal_group(group, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)


def children() -> list[int]:
    """The children of this process, including exited ones that nobody has reaped.

    It reads one small file if the kernel has it (CONFIG_PROC_CHILDREN, on in every distribution): fast enough to catch
    a process that keeps forking and exiting. Orphans become children of the main thread, which also starts our
    children.
    """
    if HAS_CHILDREN_FILE:
        return _pids_in(CHILDREN_FILE)
    return [row.pid for row in processes().values() if row.parent == os.getpid()]


def _pids_in(path: str) -> list[int]:
    return [int(pid) for pid in _content(path).split()]


def reap() -> tuple[int, bool]:
    """Collects exited children; returns their number, and whether any child is left."""
    for collected in range(REAPED_AT_ONCE_MAX):
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return collected, True
        except ChildProcessError:
            return collected, False
    return REAPED_AT_ONCE_MAX, True


def kill_descendants(limit: float) -> list[Process]:
    """SIGKILLs every descendant of this process, which must be a subreaper and is about to end.

    Children of a killed child become ours, and the kernel confirms that none is left (ECHILD); a look at the process
    table could miss one. It gives up when nothing has exited for ``limit`` seconds, and after ``RELAY_SECONDS`` also
    when processes still appear. Returns the remaining processes: they are in an uninterruptible system call or belong
    to another user.
    """
    # On a busy machine it must be faster than what it kills. Only root may; a container may forbid it to root, too.
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    began = time.monotonic()
    deadline = began + limit
    while True:
        _kill_from_the_leaves()
        collected, more = reap()
        if not more:
            return []
        if collected:
            deadline = min(time.monotonic() + limit, began + RELAY_SECONDS)
        if time.monotonic() > deadline:
            return descendants(os.getpid())
        if not collected:
            time.sleep(LOOK_AGAIN_SECONDS)


def _kill_from_the_leaves() -> None:
    """Kills the descendants, and first those without children.

    Where each process starts the next and exits, only the newest matters, and it becomes a child of ours much later
    than it has started its successor. The kernel ends a fork() of a process that a signal kills, so a leaf that is
    found in time starts no other one.
    """
    waiting, inner = children(), []
    while waiting:
        pid = waiting.pop()
        # What its main thread has started; none where the kernel has no such file. What is missed becomes a child of
        # ours.
        below = _pids_in(f"/proc/{pid}/task/{pid}/children")
        if below:
            inner.append(pid)
            waiting.extend(below)
        else:
            kill(pid)
    for pid in inner:
        kill(pid)
