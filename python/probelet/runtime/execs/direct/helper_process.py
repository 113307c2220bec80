"""The helper's process: its start, its sockets, its end. One helper serves all containers; a dead one is replaced."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from probelet.runtime.execs.direct.message import Answer, Hello, Pong, Unable, answer, ping

PING_SECONDS: Final = 1.0
"""A helper that answers no ping for so long is killed and replaced."""
RESTART_SECONDS: Final = 1.0
"""The pause before the next helper; until then attempts go over the runtime."""
_CLOSE_SECONDS: Final = 1.0

_SOCKET: Final = 3
_ENGINE_SOCKET: Final = 4
_ANSWER_BYTES_MAX: Final = 64 * 1024
_ANSWERS_PER_TURN: Final = 64
_SO_SNDBUFFORCE: Final = 32
"""asm-generic/socket.h; Python has no name for it. Only root may go beyond the machine's default, and others have no
helper."""
_REQUESTS_BYTES: Final = 4 * 1024 * 1024
"""Bytes that wait in the socket while the helper is busy: as many requests as it has commands."""

log = structlog.get_logger("probelet.execs.direct")


class Helper:
    """Keeps one helper running on the running event loop.

    ``on_ready`` is called when a helper is ready. ``on_answer`` gets what concerns an attempt. ``on_lost`` is called
    when a helper has ended: its attempts get no answer any more.
    """

    def __init__(
        self,
        program: Path,
        on_answer: Callable[[Answer], None],
        on_lost: Callable[[str], None],
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self.hello: Hello | None = None
        """The helper's description of itself; None until it is ready."""
        self.why = ""
        """Why there is no helper; empty while one is starting."""
        self.heard = asyncio.Event()
        """Set when the first helper is ready or has ended."""
        self.starts = 0
        self._program = program
        self._on_answer = on_answer
        self._on_lost = on_lost
        self._on_ready = on_ready
        self._loop = asyncio.get_running_loop()
        self._socket: socket.socket | None = None
        self._for_engine: socket.socket | None = None
        self._pid = 0
        self._pidfd = -1
        self._timer: asyncio.TimerHandle | None = None
        self._asked = self._answered = 0
        self._is_busy = self._is_closed = False
        self._ended = asyncio.Event()

    def start(self) -> None:
        """Starts a helper; its first message comes later."""
        ours, its = _socket_pair()
        for_engine, its_for_engine = _socket_pair()
        with its, its_for_engine:
            null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
            # In this order: the second socket's number is above 4, because those of three others are below it.
            sockets = ((its, _SOCKET), (its_for_engine, _ENGINE_SOCKET))
            actions = [*((os.POSIX_SPAWN_DUP2, end.fileno(), number) for end, number in sockets), *null]
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
                for_engine.close()
                self._later(f"{self._program} cannot be started: {error.strerror}")
                return
        try:
            self._pidfd = os.pidfd_open(self._pid)
        except OSError as error:
            # Its socket is closed, so it ends at once.
            ours.close()
            for_engine.close()
            os.waitpid(self._pid, 0)
            self._later(f"it cannot be watched: {error.strerror}")
            return
        self.starts += 1
        self.why = ""
        self._socket, self._for_engine = ours, for_engine
        self._asked = self._answered = 0
        self._ended.clear()
        self._loop.add_reader(ours.fileno(), self._read)
        self._loop.add_reader(self._pidfd, self._on_exit)

    def send(self, message: bytes) -> bool:
        """Sends a request; False if the helper cannot take it now."""
        if self._socket is None:
            return False
        try:
            self._socket.send(message, socket.MSG_NOSIGNAL)
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            return False
        return True

    @property
    def for_engine(self) -> tuple[int, int]:
        """Descriptors for the engine while the helper is ready: a socket that only the engine reads, and the pidfd."""
        assert self._for_engine is not None
        return self._for_engine.fileno(), self._pidfd

    def watch(self, is_busy: bool) -> None:
        """While attempts are in flight, the helper has to answer a ping every second."""
        self._is_busy = is_busy
        if is_busy and self._timer is None and self._socket is not None:
            self._timer = self._loop.call_later(PING_SECONDS, self._beat)

    async def close(self) -> None:
        """Ends the helper and every command."""
        if self._timer is not None:
            self._timer.cancel()
        self._is_closed = True
        if self._socket is None:
            return
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), _CLOSE_SECONDS)
        if not self._ended.is_set():
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            await self._ended.wait()

    def _beat(self) -> None:
        self._timer = None
        # What waits in the socket was answered in time: the loop may be late, and not the helper.
        self._read()
        if self._socket is None or not self._is_busy:
            return
        if self._answered < self._asked:
            self.why = f"it answered no ping for {PING_SECONDS:g} s"
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            return
        if self.send(ping(self._asked + 1)):
            self._asked += 1
        self.watch(True)

    def _read(self) -> None:
        for _ in range(_ANSWERS_PER_TURN):
            if self._socket is None:
                return
            try:
                message = self._socket.recv(_ANSWER_BYTES_MAX)
            except BlockingIOError:
                return
            except OSError as error:
                message, self.why = b"", str(error)
            if not message:
                # The exit follows.
                self._loop.remove_reader(self._socket.fileno())
                return
            self._take(message)

    def _take(self, message: bytes) -> None:
        try:
            found = answer(message)
        except ValueError as error:
            self.why = str(error)
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            return
        match found:
            case Hello():
                self.hello, self.why = found, ""
                self.heard.set()
                self._on_ready()
            case Pong(number):
                self._answered = max(self._answered, number)
            case Unable(why):
                self.why = why
            case _:
                self._on_answer(found)

    def _on_exit(self) -> None:
        if self._socket is not None and self._socket.fileno() >= 0:
            # What it said last.
            self._read()
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
        self._loop.remove_reader(self._pidfd)
        _, status = os.waitpid(self._pid, 0)
        os.close(self._pidfd)
        if self._for_engine is not None:
            self._for_engine.close()
        self._socket, self._for_engine, self._pidfd = None, None, -1
        self._ended.set()
        self.why = f"it ended ({os.waitstatus_to_exitcode(status)})" + (f": {self.why}" if self.why else "")
        if not self._is_closed:
            log.error("helper of exec probes ended and will be replaced", pid=self._pid, why=self.why)
        self._later(self.why)

    def _later(self, why: str) -> None:
        self.hello, self.why = None, why
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
