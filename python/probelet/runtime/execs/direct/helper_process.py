"""The helper's process: its start, its socket, its end. One helper serves all containers; a dead one is replaced."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from probelet._rust import read_hello
from probelet.runtime.execs.direct.container import Bounds

RESTART_SECONDS: Final = 1.0
"""The pause before the next helper; until then attempts go over the runtime."""
_CLOSE_SECONDS: Final = 1.0

_SOCKET: Final = 3
_SO_SNDBUFFORCE: Final = 32
"""asm-generic/socket.h; Python has no name for it. Only root may go beyond the machine's default, and others have no
helper."""
_REQUESTS_BYTES: Final = 4 * 1024 * 1024
"""Bytes that wait in the socket while the helper is busy: as many requests as it has commands."""

log = structlog.get_logger("probelet.execs.direct")


class Helper:
    """Keeps one helper running on the running event loop. After its first message only the engine reads its socket.

    ``on_ready`` is called when a helper is ready. ``on_lost`` is called when a helper has ended: its attempts get no
    answer any more.
    """

    def __init__(self, program: Path, on_ready: Callable[[], None], on_lost: Callable[[str], None]) -> None:
        self.bounds: Bounds | None = None
        """The bounds of the helper; None until it is ready."""
        self.why = ""
        """Why there is no helper; empty while one is starting."""
        self.heard = asyncio.Event()
        """Set when the first helper is ready or has ended."""
        self.starts = 0
        self._program = program
        self._on_ready = on_ready
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._socket: socket.socket | None = None
        self._pid = 0
        self._pidfd = -1
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._ended = asyncio.Event()

    def start(self) -> None:
        """Starts a helper; its first message comes later."""
        ours, its = _socket_pair()
        with its:
            null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
            actions = [(os.POSIX_SPAWN_DUP2, its.fileno(), _SOCKET), *null]
            try:
                # A session of its own, so that a key pressed in a terminal ends probelet first.
                self._pid = os.posix_spawn(
                    self._program,
                    [self._program.name],
                    {},
                    file_actions=actions,
                    setsid=True,
                    setsigmask=[],
                    setsigdef=[signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM],
                )
            except OSError as error:
                ours.close()
                self._later(f"{self._program} cannot be started: {error.strerror}")
                return
        try:
            self._pidfd = os.pidfd_open(self._pid)
        except OSError as error:
            # Its socket is closed, so it ends at once.
            ours.close()
            os.waitpid(self._pid, 0)
            self._later(f"it cannot be watched: {error.strerror}")
            return
        self.starts += 1
        self.why = ""
        self._socket = ours
        self._ended.clear()
        self._loop.add_reader(ours.fileno(), self._greet)
        self._loop.add_reader(self._pidfd, self._on_exit)

    @property
    def for_engine(self) -> tuple[int, int]:
        """Descriptors for the engine while the helper is ready: the socket and the pidfd."""
        assert self._socket is not None
        return self._socket.fileno(), self._pidfd

    async def close(self) -> None:
        """Ends the helper and every command."""
        if self._timer is not None:
            self._timer.cancel()
        self._is_closed = True
        if self._socket is None:
            return
        self._loop.remove_reader(self._socket.fileno())
        # The engine has the same socket, so that closing a descriptor of it would tell the helper nothing.
        self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), _CLOSE_SECONDS)
        if not self._ended.is_set():
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            await self._ended.wait()

    def _greet(self) -> None:
        assert self._socket is not None
        self._loop.remove_reader(self._socket.fileno())
        hello = read_hello(self._socket.fileno())
        if isinstance(hello, str):
            self.why = hello
            # A helper of another version would wait for requests.
            self._socket.shutdown(socket.SHUT_RDWR)
            return
        capabilities, limits = hello
        self.bounds, self.why = Bounds(capabilities, tuple(limits)), ""
        self.heard.set()
        self._on_ready()

    def _on_exit(self) -> None:
        assert self._socket is not None
        if self.bounds is None and not self.why:
            # What it said last.
            self._greet()
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        self._loop.remove_reader(self._pidfd)
        _, status = os.waitpid(self._pid, 0)
        os.close(self._pidfd)
        self._socket, self._pidfd = None, -1
        self._ended.set()
        self.why = f"it ended ({os.waitstatus_to_exitcode(status)})" + (f": {self.why}" if self.why else "")
        if not self._is_closed:
            log.error("helper of exec probes ended and will be replaced", pid=self._pid, why=self.why)
        self._later(self.why)

    def _later(self, why: str) -> None:
        self.bounds, self.why = None, why
        self.heard.set()
        if self._is_closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(RESTART_SECONDS, self._again)
        self._on_lost(why)

    def _again(self) -> None:
        self._timer = None
        self.start()


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Our end and the helper's end of a socket that keeps packets apart."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    with contextlib.suppress(PermissionError):
        ours.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, _REQUESTS_BYTES)
    return ours, its
