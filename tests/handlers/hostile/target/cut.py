"""Connections that end with a FIN or a RST at every place of a response."""

from collections.abc import Mapping

from tests.handlers.hostile.target.behaviour import OK_HEAD, Behaviour
from tests.handlers.hostile.target.connection import Connection

CHUNKED = OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

# What the target has sent when the connection ends.
PLACES = {
    "before-anything": b"",
    "in-status-line": b"HTTP/1.1 2",
    "in-headers": OK_HEAD + b"Content-Le",
    "in-body": OK_HEAD + b"Content-Length: 10\r\n\r\nhalf",
    "in-chunk": CHUNKED + b"a\r\nhalf",
    "in-chunk-line": CHUNKED + b"a",
    "before-last-chunk": CHUNKED + b"2\r\nok\r\n",
    "in-trailer": CHUNKED + b"0\r\nX-Tr",
}


def cut(message: bytes, *, reset: bool) -> Behaviour:
    async def behaviour(conn: Connection) -> None:
        await conn.request()
        await conn.send(message)
        if reset:
            conn.reset()
        else:
            conn.close()

    return behaviour


async def reset_at_accept(conn: Connection) -> None:
    conn.reset()


BEHAVIOURS: Mapping[str, Behaviour] = {
    "reset-at-accept": reset_at_accept,
    **{f"reset-{place}": cut(message, reset=True) for place, message in PLACES.items()},
    **{f"close-{place}": cut(message, reset=False) for place, message in PLACES.items()},
}
