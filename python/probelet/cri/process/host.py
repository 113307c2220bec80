"""The runtime process as its containers and exec runs use it."""

import asyncio

from probelet.cri import errors
from probelet.cri.process.child.orphan_processes import OrphanProcesses
from probelet.cri.process.child.reaper import Reaper


class Host:
    """The event loop, the reaper of child processes, and the root that marks them."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.loop = asyncio.get_running_loop()
        self.reaper = Reaper(self.loop)
        self.orphans = OrphanProcesses(self.loop)
        self._closing = False

    def require_open(self) -> None:
        """Raises RuntimeUnavailable if no process may start any more."""
        if self._closing:
            raise errors.RuntimeUnavailable("the runtime is shutting down")

    def close(self) -> None:
        """Forbids any further start."""
        self._closing = True
        self.reaper.close()
