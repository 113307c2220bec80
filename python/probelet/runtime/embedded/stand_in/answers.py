"""The sockets of a stand-in: each port answers HTTP/1, HTTP/2 and gRPC health checks, whatever comes."""

import asyncio
import ssl
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from probelet.base.pem import pem
from probelet.runtime.embedded.stand_in import http2
from probelet.runtime.embedded.stand_in.behaving import Life
from probelet.runtime.embedded.stand_in.plan import Port

HEAD_BYTES_MAX: Final = 64 * 1024
"""A probe's request has a few hundred bytes."""
IDLE_SECONDS: Final = 60
"""A connection that sends nothing for so long is closed; a TCP probe closes its own at once."""
OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"
DAY: Final = 86_400
YEAR: Final = 365 * DAY


async def serve(address: str, port: Port, life: Life) -> asyncio.Server:
    """Serves one port. Raises OSError if the port is taken."""
    context = _tls(address) if port.is_tls else None

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            await _converse(reader, writer, life)
        writer.close()

    return await asyncio.start_server(connected, address, port.number, ssl=context, limit=HEAD_BYTES_MAX)


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, life: Life) -> None:
    async with asyncio.timeout(IDLE_SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
    if http2.PREFACE.startswith(head):
        await reader.readexactly(len(http2.PREFACE) - len(head))
        await _converse_http2(reader, writer, life)
        return
    await life.answer()
    writer.write(OK)
    await writer.drain()


async def _converse_http2(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, life: Life) -> None:
    requests = http2.Requests()
    writer.write(http2.frame(http2.SETTINGS, 0, 0))
    while True:
        async with asyncio.timeout(IDLE_SECONDS):
            head = await reader.readexactly(http2.HEAD_BYTES)
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        if size > http2.FRAME_BYTES_MAX:
            return
        payload = await reader.readexactly(size)
        if kind in (http2.SETTINGS, http2.PING) and not flags & http2.ACK:
            writer.write(http2.frame(kind, http2.ACK, 0, payload if kind == http2.PING else b""))
        answer = requests.take(kind, flags, int.from_bytes(head[5:], "big") & 0x7FFF_FFFF)
        if answer is not None:
            await life.answer()
            writer.write(answer)
        await writer.drain()


def _tls(address: str) -> ssl.SSLContext:
    """A certificate of its own: a probe verifies none."""
    # Few stand-ins need it, and the extension is most of the start of one that does.
    from probelet._rust import issue_certificate, make_authority

    now = int(time.time())
    first, last = now - DAY, now + YEAR
    _, authority_key = make_authority("stand-in", first, last)
    certificate, key = issue_certificate("stand-in", authority_key, [address], first, last)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with tempfile.TemporaryDirectory() as folder:
        chain, secret = Path(folder, "tls.crt"), Path(folder, "tls.key")
        chain.write_bytes(pem("CERTIFICATE", certificate))
        secret.touch(mode=0o600)
        secret.write_bytes(pem("PRIVATE KEY", key))
        context.load_cert_chain(chain, secret)
    return context
