"""Messages to systemd (sd_notify(3)): the service is ready, it stops, it is alive."""

import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
WATCHDOG: Final = "WATCHDOG=1"

# As sd_watchdog_enabled(3) advises: twice as often as systemd requires.
SIGNS_PER_WATCHDOG: Final = 2


class Supervisor:
    """The datagram socket in ``NOTIFY_SOCKET``. It reads ``environ`` once; a message never blocks or raises."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        path = environ.get("NOTIFY_SOCKET", "")
        # A leading @ stands for the zero byte of an abstract address.
        self._address = f"\0{path[1:]}" if path.startswith("@") else path
        self._watchdog_ns = _watchdog_ns(environ)

    def notify(self, *lines: str) -> None:
        """Sends one datagram with these assignments. A systemd that does not read is no reason to end."""
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            sock.setblocking(False)
            sock.sendto("\n".join(lines).encode(), self._address)

    @property
    def watches(self) -> bool:
        """True if systemd expects signs of life."""
        return self._watchdog_ns > 0

    async def watch(self, sleep: Callable[[int], Awaitable[None]]) -> None:
        """Sends signs of life for ever.

        ``sleep`` waits for nanoseconds on the clock that must not stop: if it stops, systemd restarts the service.
        """
        while True:
            self.notify(WATCHDOG)
            await sleep(self._watchdog_ns // SIGNS_PER_WATCHDOG)


def _watchdog_ns(environ: Mapping[str, str]) -> int:
    """systemd's watchdog period; 0 if it has none, or if it watches another process."""
    try:
        microseconds = int(environ.get("WATCHDOG_USEC", "0"))
        process = int(environ.get("WATCHDOG_PID", str(os.getpid())))
    except ValueError:
        return 0
    return max(microseconds, 0) * 1_000 if process == os.getpid() else 0
