"""Kills the processes that a container's first process leaves behind when it exits.

In a pid namespace the kernel ends them. Here the runtime, as the subreaper, becomes the parent of the orphans and finds
the container of each by its session or by the mark in its environment. A process that has left both has no container,
and one that forks, calls setsid and exits in turn may be missed; these end with the runtime.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from probelet.cri.process import process_tree
from probelet.cri.process.spawn import CONTAINER_VARIABLE

LOOK_AGAIN_SECONDS = 0.01
"""Between two looks while killed orphans are still there."""

PATIENCE_SECONDS = 2.0
"""Orphans in an uninterruptible system call delay the news of the exit no longer than this."""


@dataclass(slots=True)
class _Clearing:
    session: int
    cleared: Callable[[], None]
    deadline: float


class OrphanProcesses:
    """Kills the orphans of containers; one look at the runtime's children serves all that exited meanwhile."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._first_processes: set[int] = set()
        self._clearings: dict[str, _Clearing] = {}
        self._look: asyncio.Handle | None = None

    def add_first_process(self, pid: int) -> None:
        """Registers a container's first process: a child of the runtime, but no orphan."""
        self._first_processes.add(pid)

    def clear(self, container_id: str, first_process: int, cleared: Callable[[], None]) -> None:
        """The first process has exited: kills the container's other processes, then calls ``cleared``."""
        self._first_processes.discard(first_process)
        deadline = self._loop.time() + PATIENCE_SECONDS
        self._clearings[container_id] = _Clearing(first_process, cleared, deadline)
        if self._look is None:
            self._look = self._loop.call_soon(self._clear)

    def _clear(self) -> None:
        self._look = None
        heads = self._heads()
        table = process_tree.processes() if heads else {}
        for container_id, clearing in list(self._clearings.items()):
            for row in process_tree.families(heads.get(container_id, ()), table):
                process_tree.kill(row.pid)
            if container_id not in heads or self._loop.time() > clearing.deadline:
                del self._clearings[container_id]
                clearing.cleared()
        if self._clearings and self._look is None:
            self._look = self._loop.call_later(LOOK_AGAIN_SECONDS, self._clear)

    def _heads(self) -> dict[str, list[int]]:
        """The orphans of containers that have exited, by container: heads of the families to kill."""
        sessions = {clearing.session: container_id for container_id, clearing in self._clearings.items()}
        heads: dict[str, list[int]] = {}
        for pid in process_tree.children():
            if pid in self._first_processes:
                continue
            try:
                owner = sessions.get(os.getsid(pid))
            except ProcessLookupError:
                continue
            owner = owner or process_tree.environment_of(pid).get(CONTAINER_VARIABLE, b"").decode("ascii", "replace")
            if owner in self._clearings:
                heads.setdefault(owner, []).append(pid)
        return heads
