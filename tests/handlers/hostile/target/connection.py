"""One accepted connection, and the ways to mistreat the client."""

import asyncio
import contextlib
import socket
import struct

# What a flood writes at a time: enough that the prober, not this program, is the slower side.
BLOCK_BYTES = 65_536


class Connection:
    """A connection of a prober. Everything here ends with an OSError once the prober has left."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ignoring: asyncio.Task[None] | None = None

    async def request(self) -> bytes:
        """The head of the next request; nothing if there is none."""
        try:
            return await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""

    async def gone(self) -> None:
        """Waits until the prober has left, without a word."""
        while await self._reader.read(BLOCK_BYTES):
            pass

    def ignore(self) -> None:
        """Whatever the prober says from now on is read and forgotten."""
        self._ignoring = asyncio.create_task(self._forget())

    async def _forget(self) -> None:
        with contextlib.suppress(OSError):
            await self.gone()

    async def forever(self) -> None:
        """Nothing more happens."""
        if self._ignoring is not None:
            await self._ignoring

    async def read(self, count: int) -> bytes:
        """So many bytes; raises once the prober has left."""
        return await self._reader.readexactly(count)

    async def send(self, data: bytes) -> None:
        # A writer takes data for a prober that has left without a word, and `drain` alone need not let the loop turn.
        if self._writer.is_closing():
            raise ConnectionResetError
        self._writer.write(data)
        await self._writer.drain()
        await asyncio.sleep(0)

    async def flood(self, data: bytes) -> None:
        """The same again and again, as fast as it is taken."""
        block = data * max(1, BLOCK_BYTES // len(data))
        while True:
            await self.send(block)

    async def trickle(self, data: bytes, seconds: float = 1.0) -> None:
        """One byte at a time."""
        for byte in data:
            await self.send(bytes([byte]))
            await asyncio.sleep(seconds)

    def half_close(self) -> None:
        """Says that nothing more comes; behind TLS that can only be said by closing."""
        if self._writer.can_write_eof():
            self._writer.write_eof()
        else:
            self._writer.close()

    def reset(self) -> None:
        """Leaves with a RST."""
        sock: socket.socket = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()
