"""What containers and exec runs need of the process they live in."""

import asyncio

from probelet.cri import errors
from probelet.cri.process.orphan_processes import OrphanProcesses
from probelet.cri.process.reaper import Reaper


class Host:
    """The runtime's own process: its loop, the children it waits for, the root that marks them."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.loop = asyncio.get_running_loop()
        self.reaper = Reaper(self.loop)
        self.orphans = OrphanProcesses(self.loop)
        self._closing = False

    def require_open(self) -> None:
        """Raise RuntimeUnavailable when no process may be started any more."""
        if self._closing:
            raise errors.RuntimeUnavailable("the runtime is shutting down")

    def close(self) -> None:
        """Start nothing from now on."""
        self._closing = True
        self.reaper.close()
