"""Redirects without end."""

from tests.handlers.hostile.target.behaviour import named
from tests.handlers.hostile.target.connection import BLOCK_BYTES, Connection

FOUND = b"HTTP/1.1 302 Found\r\n"
# Nearly as long as a head may be.
LONG_LOCATION_BYTES = 9 * 1024 * 1024
# Short enough that the client parses it.
LOCATION_BYTES = 8_000


async def redirect_loop(conn: Connection) -> None:
    await conn.request()
    await conn.send(FOUND + b"Location: /\r\nContent-Length: 0\r\n\r\n")


async def redirect_to_itself_with_bodies(conn: Connection) -> None:
    await conn.request()
    await conn.send(FOUND + b"Location: /\r\n\r\n")
    await conn.flood(b"x" * BLOCK_BYTES)


async def redirect_with_a_slow_body(conn: Connection) -> None:
    await conn.request()
    await conn.send(FOUND + b"Location: /\r\n\r\n")
    await conn.trickle(b"x" * 100)


async def redirect_with_a_long_body(conn: Connection) -> None:
    """A Content-Length above what a client reads of a body before it follows a redirect."""
    await conn.request()
    await conn.send(FOUND + b"Location: /\r\nContent-Length: 1000000000\r\n\r\n")
    await conn.flood(b"x" * BLOCK_BYTES)


async def redirect_that_grows(conn: Connection) -> None:
    """Redirects to a target twice as long as the one before."""
    target = (await conn.request()).split(b" ", 2)[1]
    await conn.send(FOUND + b"Location: " + target + target + b"\r\nContent-Length: 0\r\n\r\n")


async def redirect_to_a_long_target(conn: Connection) -> None:
    await conn.request()
    await conn.send(FOUND + b"Location: /" + b"x" * LONG_LOCATION_BYTES + b"\r\nContent-Length: 0\r\n\r\n")
    await conn.gone()


async def redirect_to_a_wrong_target(conn: Connection) -> None:
    """A Location that does not parse: the error quotes it twice, and quoting makes each of its bytes four."""
    await conn.request()
    await conn.send(FOUND + b"Location: %" + b"\xff" * LOCATION_BYTES + b"\r\nContent-Length: 0\r\n\r\n")


BEHAVIOURS = named(
    redirect_loop,
    redirect_that_grows,
    redirect_to_a_long_target,
    redirect_to_a_wrong_target,
    redirect_to_itself_with_bodies,
    redirect_with_a_long_body,
    redirect_with_a_slow_body,
)
