"""The limit of open files (RLIMIT_NOFILE), raised for this process and never for a program that it starts.

Shells and systemd set a soft limit of 1024, because a program that uses select(2) breaks above it; a program that does
not may raise it to the hard one. Go's runtime does both parts for the kubelet (os/rlimit.go, syscall/rlimit.go, 1.26).

No function here runs between fork and exec (the ``preexec_fn`` of ``subprocess``): Python in the child of a process
that has threads, such as those of gRPC, can crash or hang before the program starts.
"""

import fcntl
import os
import resource
from contextlib import suppress
from typing import Final

ROOM: Final = 64
"""So many numbers below the soft limit are left to descriptors that are soon closed again."""

_inherited: int | None = None


def raise_limit() -> int:
    """Raises the soft limit to the hard one, if the system allows it; returns the soft limit."""
    global _inherited
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    # Without the right to have so many the process goes on with fewer.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        _inherited = _inherited or soft
        return hard
    return soft


def inherited() -> int | None:
    """The soft limit with which this process was started; None if ``raise_limit`` has not changed it."""
    return _inherited


def lower(soft: int) -> None:
    """Sets the soft limit, for this process and for the programs that it starts. ``soft`` is at most the hard limit."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def aside(fd: int) -> int:
    """Gives a descriptor that stays open for long a number above the soft limit, if ``fd`` is among the last ``ROOM``
    numbers below. Returns the number; ``fd`` itself is closed then.

    The kernel compares numbers with the soft limit only where it gives out a new one. So this process goes up to its
    hard limit, and the programs that it starts inherit the soft limit, which is raised for the length of this call
    only. The thread that starts programs must be the one that calls.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if fd + ROOM < soft or soft == hard:
        return fd
    # Without the right, or with all numbers in use, the descriptor keeps its number.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        try:
            moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, soft)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(fd)
        return moved
    return fd
