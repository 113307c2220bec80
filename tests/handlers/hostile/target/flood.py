"""Responses with too much of one of their parts."""

from tests.handlers.hostile.target.behaviour import OK_HEAD, named
from tests.handlers.hostile.target.connection import BLOCK_BYTES, Connection

CHUNKED = OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
# Above the 10 MiB of header bytes that Go's transport, and so the kubelet, accepts.
HEADERS_BYTES = 16 * 1024 * 1024
# Below that limit.
LONG_BYTES = 9 * 1024 * 1024
# Just short enough that the reader accepts the chunk's line.
EXTENSION_BYTES = 4000


async def endless_body(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"\r\n")
    await conn.flood(b"x" * BLOCK_BYTES)


async def endless_length(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"Content-Length: 9223372036854775807\r\n\r\n")
    await conn.flood(b"x" * BLOCK_BYTES)


async def endless_chunks(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED)
    await conn.flood(b"10\r\n" + b"x" * 16 + b"\r\n")


async def huge_chunk(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED + b"7fffffffffffffff\r\n")
    await conn.flood(b"x" * BLOCK_BYTES)


async def chunk_beyond_64_bits(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED + b"1" + b"0" * 16 + b"\r\n")
    await conn.flood(b"x" * BLOCK_BYTES)


async def chunk_extensions(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED)
    await conn.flood(b"1;" + b"e" * EXTENSION_BYTES + b"\r\nx\r\n")


async def endless_chunk_line(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED + b"1;")
    await conn.flood(b"e" * BLOCK_BYTES)


async def endless_trailer(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED + b"0\r\n")
    await conn.flood(b"X-Trailer: x\r\n")


async def headers_of_16_mib(conn: Connection) -> None:
    await conn.request()
    field = b"X-Header: " + b"x" * 1000 + b"\r\n"
    await conn.send(OK_HEAD)
    for _ in range(HEADERS_BYTES // len(field)):
        await conn.send(field)
    await conn.send(b"\r\n")


async def endless_tiny_headers(conn: Connection) -> None:
    """The shortest fields: the most work per byte."""
    await conn.request()
    await conn.send(OK_HEAD)
    await conn.flood(b"a:\n")


async def endless_kept_headers(conn: Connection) -> None:
    """Fields that a client has to store."""
    await conn.request()
    await conn.send(OK_HEAD)
    await conn.flood(b"Trailer:\n")


async def held_head(conn: Connection) -> None:
    """Fields that a client has to store, and never their end."""
    await conn.request()
    await conn.send(OK_HEAD + b"Location: " + b"x" * BLOCK_BYTES + b"\r\n" + b"Trailer: x\r\n" * 20_000)
    await conn.gone()


async def endless_header_line(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"X-Header: ")
    await conn.flood(b"x" * BLOCK_BYTES)


async def endless_folds(conn: Connection) -> None:
    """A field whose value is folded over lines without end."""
    await conn.request()
    await conn.send(OK_HEAD + b"X-Header: x\r\n")
    await conn.flood(b" x\r\n")


async def endless_status_line(conn: Connection) -> None:
    await conn.request()
    await conn.send(b"HTTP/1.1 200 ")
    await conn.flood(b"x" * BLOCK_BYTES)


async def long_wrong_line(conn: Connection) -> None:
    """A malformed line, which the error quotes; quoting makes each of its bytes four times as long."""
    await conn.request()
    await conn.send(OK_HEAD)
    await conn.send(b"\x01" * LONG_BYTES + b"\r\n\r\n")


async def interim_responses(conn: Connection) -> None:
    await conn.request()
    await conn.flood(b"HTTP/1.1 100 Continue\r\n\r\n")


async def noise(conn: Connection) -> None:
    await conn.request()
    await conn.flood(bytes(range(256)))


BEHAVIOURS = named(
    chunk_beyond_64_bits,
    chunk_extensions,
    endless_body,
    endless_chunk_line,
    endless_chunks,
    endless_folds,
    endless_header_line,
    endless_kept_headers,
    endless_length,
    endless_status_line,
    endless_tiny_headers,
    endless_trailer,
    headers_of_16_mib,
    held_head,
    huge_chunk,
    interim_responses,
    long_wrong_line,
    noise,
)
