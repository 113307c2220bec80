"""Targets that send nothing, and listeners that accept nothing."""

import socket

from tests.handlers.hostile.target.behaviour import ANSWER, named
from tests.handlers.hostile.target.connection import Connection

# More connections than a queue with backlog 0 holds; after them the kernel drops every SYN.
FILLERS = 4


async def silence(conn: Connection) -> None:
    await conn.gone()


async def half_close(conn: Connection) -> None:
    """Closes its sending side and never the connection."""
    await conn.request()
    conn.half_close()
    await conn.gone()


async def half_close_after_answer(conn: Connection) -> None:
    await conn.request()
    await conn.send(ANSWER)
    conn.half_close()
    await conn.gone()


async def answer_kept_open(conn: Connection) -> None:
    """Sends the whole answer and keeps the connection open: only Content-Length ends the body."""
    await conn.request()
    await conn.send(ANSWER)
    await conn.gone()


async def answer_unasked(conn: Connection) -> None:
    """Answers before the request comes."""
    await conn.send(ANSWER)
    await conn.gone()


BEHAVIOURS = named(answer_kept_open, answer_unasked, half_close, half_close_after_answer, silence)


def never_accepting(address: str) -> list[socket.socket]:
    """A listener without accept: the kernel completes the handshake."""
    listener = socket.create_server((address, 0), backlog=1024)
    return [listener]


def dropping(address: str) -> list[socket.socket]:
    """A listener with a full queue, and the connections that fill it: the kernel drops every further SYN."""
    listener = socket.create_server((address, 0), backlog=0)
    fillers = []
    for _ in range(FILLERS):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
        fillers.append(filler)
    return [listener, *fillers]


LISTENERS = {"never-accepting": never_accepting, "dropping": dropping}
