"""What systemd is told (sd_notify(3)): that the service is ready, that it ends, that it is alive."""

import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
WATCHDOG: Final = "WATCHDOG=1"

# As sd_watchdog_enabled(3) advises: tell it twice as often as it wants to hear.
SIGNS_PER_WATCHDOG: Final = 2


class Supervisor:
    """The datagram socket that ``NOTIFY_SOCKET`` names. ``environ`` is read once; a message never blocks nor raises."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        path = environ.get("NOTIFY_SOCKET", "")
        # An @ stands for the zero byte of an abstract address.
        self._address = f"\0{path[1:]}" if path.startswith("@") else path
        self._watchdog_ns = _watchdog_ns(environ)

    def tell(self, *lines: str) -> None:
        """One datagram with these assignments. That systemd does not listen is no reason to end."""
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            sock.setblocking(False)
            sock.sendto("\n".join(lines).encode(), self._address)

    @property
    def watches(self) -> bool:
        """Whether signs of life are waited for."""
        return self._watchdog_ns > 0

    async def watch(self, sleep: Callable[[int], Awaitable[None]]) -> None:
        """Say for ever that the service is alive.

        ``sleep`` waits so many nanoseconds, on the clock whose standing still is a reason for a restart.
        """
        while True:
            self.tell(WATCHDOG)
            await sleep(self._watchdog_ns // SIGNS_PER_WATCHDOG)


def _watchdog_ns(environ: Mapping[str, str]) -> int:
    """What systemd waits for a sign of life, 0 if it does not, or waits for another process."""
    try:
        microseconds = int(environ.get("WATCHDOG_USEC", "0"))
        process = int(environ.get("WATCHDOG_PID", str(os.getpid())))
    except ValueError:
        return 0
    return max(microseconds, 0) * 1_000 if process == os.getpid() else 0
