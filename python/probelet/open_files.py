"""The limit of open files (RLIMIT_NOFILE), raised for this process and never for a program that it starts.

Shells and systemd set a soft limit of 1024, because a program that uses select(2) breaks above it; a program that does
not may raise it to the hard one. Go's runtime does both parts for the kubelet (os/rlimit.go, syscall/rlimit.go, 1.26).
"""

import os
import resource
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

ROOM: Final = 64
"""Fewer descriptors than this below the limit are too few to start a program and go on."""

_inherited: tuple[int, int] | None = None


def raise_limit() -> int:
    """Raises the soft limit to the hard one, if the system allows it; returns the soft limit."""
    global _inherited
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    # Without the right to have so many the process goes on with fewer.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        _inherited = _inherited or (soft, hard)
        return hard
    return soft


def make_room() -> None:
    """Raises the limit once the process is close to it. Until then programs start faster: see ``restoring``."""
    if _inherited is None and not _has_room():
        raise_limit()


def _has_room() -> bool:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        lowest_free = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(lowest_free)
    return lowest_free + ROOM < soft


def restoring() -> Callable[[], None] | None:
    """``preexec_fn`` of a program that this process starts: gives the program the limit that this process inherited.

    None if the limit is unchanged. A start with a ``preexec_fn`` copies this process's page tables, which takes a
    millisecond.
    """
    if _inherited is None:
        return None
    return partial(resource.setrlimit, resource.RLIMIT_NOFILE, _inherited)
