"""The socket that callers connect to: mode 0600, and the kernel says which user each caller is."""

import asyncio
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.base.files.unix_socket import Peer, bound_socket, peer_of, trusted_uids
from probelet.service.limit import (
    ACCEPT_PAUSE_SECONDS,
    BACKLOG,
    CONNECTIONS_MAX,
    PROCESS_CONNECTIONS_MIN,
    PROCESS_SHARE,
)

PIECE_BYTES: Final = 64 * 1024
"""How many bytes are passed on at once; the kernel's own buffer of a unix socket is not much larger."""

log = structlog.get_logger("probelet.service")


class UidGate:
    """Passes connections of this user and of root on to the socket ``inner``; closes all others."""

    def __init__(self, path: Path, inner: Path, connections: int = CONNECTIONS_MAX) -> None:
        self._room = connections
        self._path = path
        self._inner = inner
        # The process at the other end of each connection.
        self._connections: dict[asyncio.Task[None], int] = {}
        self._accepting: asyncio.Future[None] | None = None
        self._bound = ExitStack()
        self._closing = asyncio.Event()
        self._refused_user = PacedLog(log.warning, "refused a caller of another user")
        self._refused_connection = PacedLog(log.warning, "refused a caller: too many connections")
        self._broken = PacedLog(log.warning, "refused a caller: no connection to the service")

    async def __aenter__(self) -> "UidGate":
        sock = self._bound.enter_context(bound_socket(self._path))
        sock.listen(BACKLOG)
        sock.setblocking(False)
        self._accepting = asyncio.ensure_future(self._accept_for_ever(sock))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._accepting is not None
        self._accepting.cancel()
        self._closing.set()
        await asyncio.gather(self._accepting, *self._connections, return_exceptions=True)
        self._bound.close()

    async def _accept_for_ever(self, sock: socket.socket) -> None:
        """Accepts one connection in a turn of the loop, and closes at once what it refuses.

        asyncio's own server accepts a hundred before it looks at one, and in a storm of callers they take the
        descriptors of the pages and of the other callers.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                caller, _ = await loop.sock_accept(sock)
            except OSError as error:
                # The process has no descriptor left, for example.
                self._broken(error=str(error))
                await asyncio.sleep(ACCEPT_PAUSE_SECONDS)
                continue
            process = peer_of(caller)
            if self._admits(process):
                task = asyncio.ensure_future(self._serve(caller))
                self._connections[task] = process.pid
                task.add_done_callback(self._connections.pop)
            else:
                caller.close()
            # A caller that waits already is accepted without a turn of the loop.
            await asyncio.sleep(0)

    def _admits(self, process: Peer) -> bool:
        of_process = sum(other == process.pid for other in self._connections.values())
        if process.uid not in trusted_uids():
            self._refused_user(uid=process.uid)
        elif len(self._connections) >= self._room:
            self._refused_connection(connections=self._room)
        elif of_process >= max(PROCESS_CONNECTIONS_MIN, self._room // PROCESS_SHARE):
            self._refused_connection(connections=of_process, process=process.pid)
        else:
            return True
        return False

    async def _serve(self, caller: socket.socket) -> None:
        with caller:
            try:
                reader, writer = await asyncio.open_unix_connection(sock=caller, limit=PIECE_BYTES)
                try:
                    await self._pass_on(reader, writer)
                finally:
                    await _closed(writer)
            except OSError as error:
                # The process has no descriptor left, for example.
                self._broken(error=str(error))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copies bytes both ways until one side ends; then closes the other side."""
        inner_reader, inner_writer = await asyncio.open_unix_connection(str(self._inner), limit=PIECE_BYTES)
        parts = (_copy(reader, inner_writer), _copy(inner_reader, writer), self._closing.wait())
        ways: list[asyncio.Future[Any]] = [asyncio.ensure_future(part) for part in parts]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            await _closed(inner_writer)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    # The other side may have closed first.
    with suppress(ConnectionError):
        await writer.wait_closed()
