"""What a container's first process leaves behind when it exits.

In a pid namespace the kernel ends the rest with it. Here it is found and killed: orphans fall to the runtime, the
subreaper, and are told apart by their session or by the mark in their environment. A process that left both cannot
be told apart, and one that forks, calls setsid and exits in turn may slip through; they end with the runtime.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from probelet.cri.process import process_tree as kin
from probelet.cri.process.spawn import CONTAINER_VARIABLE

LOOK_AGAIN_SECONDS = 0.01
"""Between two looks while killed strays are still there."""

PATIENCE_SECONDS = 2.0
"""Strays in an uninterruptible system call hold up the news of an exit no longer than this."""


@dataclass(slots=True)
class _Clearing:
    session: int
    cleared: Callable[[], None]
    deadline: float


class Strays:
    """Clears up after containers; one look at our children serves all that exited meanwhile."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._first_processes: set[int] = set()
        self._clearings: dict[str, _Clearing] = {}
        self._look: asyncio.Handle | None = None

    def add_first_process(self, pid: int) -> None:
        """A container's first process: a child of ours, but no stray."""
        self._first_processes.add(pid)

    def clear(self, container_id: str, first_process: int, cleared: Callable[[], None]) -> None:
        """The first process has exited: kill what is left of the container, then call ``cleared``."""
        self._first_processes.discard(first_process)
        deadline = self._loop.time() + PATIENCE_SECONDS
        self._clearings[container_id] = _Clearing(first_process, cleared, deadline)
        if self._look is None:
            self._look = self._loop.call_soon(self._clear)

    def _clear(self) -> None:
        self._look = None
        heads = self._heads()
        table = kin.processes() if heads else {}
        for container_id, clearing in list(self._clearings.items()):
            for row in kin.families(heads.get(container_id, ()), table):
                kin.kill(row.pid)
            if container_id not in heads or self._loop.time() > clearing.deadline:
                del self._clearings[container_id]
                clearing.cleared()
        if self._clearings and self._look is None:
            self._look = self._loop.call_later(LOOK_AGAIN_SECONDS, self._clear)

    def _heads(self) -> dict[str, list[int]]:
        """Orphans of containers that have exited, which are children of ours: heads of the families to kill."""
        sessions = {clearing.session: container_id for container_id, clearing in self._clearings.items()}
        heads: dict[str, list[int]] = {}
        for pid in kin.children():
            if pid in self._first_processes:
                continue
            try:
                owner = sessions.get(os.getsid(pid))
            except ProcessLookupError:
                continue
            owner = owner or kin.environment_of(pid).get(CONTAINER_VARIABLE, b"").decode("ascii", "replace")
            if owner in self._clearings:
                heads.setdefault(owner, []).append(pid)
        return heads
