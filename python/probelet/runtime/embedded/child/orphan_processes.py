"""Kills the processes that a container's first process leaves behind when it exits.

In a pid namespace the kernel kills them. Here they become children of the runtime, a subreaper, which recognizes them
by their session or by the mark in their environment. It cannot recognize a process that left both, and may miss one
that keeps forking, calling setsid and exiting; those end with the runtime.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.marks import CONTAINER_VARIABLE

LOOK_AGAIN_SECONDS = 0.01
"""Pause between two searches while killed processes still exist."""

PATIENCE_SECONDS = 2.0
"""Processes in an uninterruptible system call delay the report of an exit by at most this."""


@dataclass(slots=True)
class _ExitedContainer:
    session: int
    cleared: Callable[[], None]
    deadline: float


class OrphanProcesses:
    """Kills the orphans of exited containers; one search serves all containers that exited since the last."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._first_processes: set[int] = set()
        self._exited: dict[str, _ExitedContainer] = {}
        self._search: asyncio.Handle | None = None

    def add_first_process(self, pid: int) -> None:
        """Registers a container's first process: it is a child of ours but no orphan."""
        self._first_processes.add(pid)

    def clear(self, container_id: str, first_process: int, cleared: Callable[[], None]) -> None:
        """Kills the container's remaining processes after its first process exited, then calls ``cleared``."""
        self._first_processes.discard(first_process)
        deadline = self._loop.time() + PATIENCE_SECONDS
        self._exited[container_id] = _ExitedContainer(first_process, cleared, deadline)
        if self._search is None:
            self._search = self._loop.call_soon(self._clear)

    def _clear(self) -> None:
        self._search = None
        orphans = self._orphans()
        table = process_tree.processes() if orphans else {}
        for container_id, container in list(self._exited.items()):
            for row in process_tree.living_descendants(orphans.get(container_id, ()), table):
                process_tree.kill(row.pid)
            if container_id not in orphans or self._loop.time() > container.deadline:
                del self._exited[container_id]
                container.cleared()
        if self._exited and self._search is None:
            self._search = self._loop.call_later(LOOK_AGAIN_SECONDS, self._clear)

    def _orphans(self) -> dict[str, list[int]]:
        """Children of ours that are orphans of exited containers, by container ID; their descendants die with them."""
        sessions = {container.session: container_id for container_id, container in self._exited.items()}
        orphans: dict[str, list[int]] = {}
        for pid in process_tree.children():
            if pid in self._first_processes:
                continue
            try:
                owner = sessions.get(os.getsid(pid))
            except ProcessLookupError:
                continue
            owner = owner or process_tree.environment_of(pid).get(CONTAINER_VARIABLE, b"").decode("ascii", "replace")
            if owner in self._exited:
                orphans.setdefault(owner, []).append(pid)
        return orphans
