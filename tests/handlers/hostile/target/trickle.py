"""Responses that send one byte a second from some place on."""

from tests.handlers.hostile.target.behaviour import ANSWER, OK_HEAD, named
from tests.handlers.hostile.target.connection import Connection

CHUNKED = OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
# With ENDLESS bytes the target outlives the timeout, and at this pace a client is never idle for long.
HASTE_SECONDS = 0.001
ENDLESS = b"x" * 100_000


async def slow_status_line(conn: Connection) -> None:
    await conn.request()
    await conn.trickle(ANSWER)


async def slow_headers(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD)
    await conn.trickle(b"X-Header: " + ENDLESS)


async def slow_end_of_head(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"Content-Length: 0\r\n")
    await conn.gone()


async def slow_body(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"Content-Length: 100\r\n\r\n")
    await conn.trickle(b"x" * 100)


async def slow_body_without_length(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"\r\n")
    await conn.trickle(ENDLESS)


async def slow_chunk_line(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED)
    await conn.trickle(b"1;" + ENDLESS)


async def slow_chunk(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED + b"ffff\r\n")
    await conn.trickle(ENDLESS)


async def slow_trailer(conn: Connection) -> None:
    await conn.request()
    await conn.send(CHUNKED + b"2\r\nok\r\n0\r\n")
    await conn.trickle(b"X-Trailer: " + ENDLESS)


async def slow_interim_responses(conn: Connection) -> None:
    await conn.request()
    for _ in range(100):
        await conn.trickle(b"HTTP/1.1 100 Continue\r\n\r\n", 0.01)


async def hasty_header(conn: Connection) -> None:
    await conn.request()
    await conn.send(OK_HEAD + b"X-Header: ")
    await conn.trickle(ENDLESS, HASTE_SECONDS)


BEHAVIOURS = named(
    hasty_header,
    slow_body,
    slow_body_without_length,
    slow_chunk,
    slow_chunk_line,
    slow_end_of_head,
    slow_headers,
    slow_interim_responses,
    slow_status_line,
    slow_trailer,
)
