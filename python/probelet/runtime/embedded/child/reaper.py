"""The only place that waits for children: processes we started, and orphans of which we are the subreaper."""

import asyncio
import os
import signal
from collections.abc import Callable

from probelet.runtime.embedded.child import process_tree

KILLED_EXIT_CODE = 128
"""A process ended by signal n has exit code 128 + n, as in shells and runtimes (137 is SIGKILL)."""


class Reaper:
    """Reaps on SIGCHLD and passes each exit code to the pid's callback.

    The callback runs while the child is still a zombie: no other process can have its pid or its process group yet, so
    signalling the group is safe.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._watchers: dict[int, Callable[[int], None]] = {}
        self._loop = loop
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        # Thousands of short-lived children fill the pipe that wakes the loop. The loop is awake then, so Python need
        # not warn of each.
        signal.set_wakeup_fd(signal.set_wakeup_fd(-1), warn_on_full_buffer=False)

    def watch(self, pid: int, exited: Callable[[int], None]) -> None:
        """Calls ``exited(exit_code)`` once. Call this in the same loop step as the start, or it may miss the exit."""
        self._watchers[pid] = exited

    def close(self) -> None:
        """Stops handling SIGCHLD."""
        self._loop.remove_signal_handler(signal.SIGCHLD)

    def _reap(self) -> None:
        for _ in range(process_tree.REAPED_AT_ONCE_MAX):
            try:
                info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if info is None:
                return
            watcher = self._watchers.pop(info.si_pid, None)
            if watcher is not None:
                watcher(info.si_status if info.si_code == os.CLD_EXITED else KILLED_EXIT_CODE + info.si_status)
            os.waitpid(info.si_pid, 0)
        self._loop.call_soon(self._reap)
