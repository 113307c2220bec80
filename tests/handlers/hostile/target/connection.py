"""One accepted connection, and the ways to mistreat the client."""

import asyncio
import contextlib
import socket
import struct

# What a flood writes at a time: so much that the prober is slower than this program.
BLOCK_BYTES = 65_536


class Connection:
    """A connection of a prober. Every method raises OSError once the prober has closed the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ignoring: asyncio.Task[None] | None = None

    async def request(self) -> bytes:
        """Returns the head of the next request; empty if there is none."""
        try:
            return await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""

    async def gone(self) -> None:
        """Waits until the prober has closed the connection, and sends nothing."""
        while await self._reader.read(BLOCK_BYTES):
            pass

    def ignore(self) -> None:
        """From now on reads and drops all that the prober sends."""
        self._ignoring = asyncio.create_task(self._forget())

    async def _forget(self) -> None:
        with contextlib.suppress(OSError):
            await self.gone()

    async def forever(self) -> None:
        """Sends nothing more, until the prober has closed the connection."""
        if self._ignoring is not None:
            await self._ignoring

    async def read(self, count: int) -> bytes:
        """Reads exactly ``count`` bytes."""
        return await self._reader.readexactly(count)

    async def send(self, data: bytes) -> None:
        # A writer accepts data for a closed connection without an error, and `drain` need not give the loop a turn.
        if self._writer.is_closing():
            raise ConnectionResetError
        self._writer.write(data)
        await self._writer.drain()
        await asyncio.sleep(0)

    async def flood(self, data: bytes) -> None:
        """Sends ``data`` for ever, as fast as the prober reads it."""
        block = data * max(1, BLOCK_BYTES // len(data))
        while True:
            await self.send(block)

    async def trickle(self, data: bytes, seconds: float = 1.0) -> None:
        """Sends one byte of ``data`` every ``seconds``."""
        for byte in data:
            await self.send(bytes([byte]))
            await asyncio.sleep(seconds)

    def half_close(self) -> None:
        """Closes the sending side; TLS has no half-close here, so it closes the connection."""
        if self._writer.can_write_eof():
            self._writer.write_eof()
        else:
            self._writer.close()

    def reset(self) -> None:
        """Closes the connection with a RST."""
        sock: socket.socket = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()
