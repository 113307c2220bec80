"""The runtime process as its containers and exec runs use it."""

import asyncio

from probelet.base.logs.rotation import LogLimits
from probelet.runtime.cri import errors
from probelet.runtime.embedded.child.orphan_processes import OrphanProcesses
from probelet.runtime.embedded.child.reaper import Reaper


class Host:
    """The event loop, the reaper of child processes, the root that marks them, and the limits of their logs.

    ``has_users``: a container runs as the user that its configuration names, else all run as this process.
    """

    def __init__(self, root: str, log_limits: LogLimits, *, has_users: bool = False) -> None:
        self.root = root
        self.log_limits = log_limits
        self.has_users = has_users
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
