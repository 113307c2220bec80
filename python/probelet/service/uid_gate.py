"""The socket that callers connect to: mode 0600, and the kernel says which user each caller is."""

import asyncio
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import structlog

from probelet.exposition.paced_log import PacedLog
from probelet.files.unix_socket import bound_socket, peer_of, trusted_uids
from probelet.service.limit import CONNECTIONS_MAX, PROCESS_CONNECTIONS_MIN, PROCESS_SHARE

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
        self._server: asyncio.Server | None = None
        self._bound = ExitStack()
        self._closing = asyncio.Event()
        self._refused_user = PacedLog(log.warning, "refused a caller of another user")
        self._refused_connection = PacedLog(log.warning, "refused a caller: too many connections")
        self._broken = PacedLog(log.warning, "refused a caller: no connection to the service")

    async def __aenter__(self) -> "UidGate":
        sock = self._bound.enter_context(bound_socket(self._path))
        self._server = await asyncio.start_unix_server(self._enter, sock=sock, limit=PIECE_BYTES)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        # The tasks of the connections belong to asyncio, which logs an error for a cancelled one.
        self._closing.set()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._bound.close()

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        process = peer_of(writer.get_extra_info("socket"))
        pid, uid = process.pid, process.uid
        of_process = sum(other == pid for other in self._connections.values())
        try:
            if uid not in trusted_uids():
                self._refused_user(uid=uid)
            elif len(self._connections) >= self._room:
                self._refused_connection(connections=self._room)
            elif of_process >= max(PROCESS_CONNECTIONS_MIN, self._room // PROCESS_SHARE):
                self._refused_connection(connections=of_process, process=pid)
            else:
                self._connections[task] = pid
                await self._pass_on(reader, writer)
        except OSError as error:
            # The process has no descriptor left, for example. asyncio would log a traceback.
            self._broken(error=str(error))
        finally:
            self._connections.pop(task, None)
            await _closed(writer)

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
