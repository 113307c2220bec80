"""Servers that answer a TLS handshake wrongly, slowly or not at all."""

from tests.handlers.hostile.target.behaviour import named
from tests.handlers.hostile.target.connection import BLOCK_BYTES, Connection

# Record types, and the version in the header of every record.
ALERT, HANDSHAKE, APPLICATION = 21, 22, 23
VERSION = b"\x03\x03"
# The longest payload of a record.
RECORD_BYTES = 1 << 14
SERVER_HELLO = 2


def record(kind: int, payload: bytes) -> bytes:
    return bytes([kind]) + VERSION + len(payload).to_bytes(2, "big") + payload


async def tls_garbage(conn: Connection) -> None:
    await conn.read(1)
    await conn.flood(bytes(range(255, -1, -1)))


async def tls_stall(conn: Connection) -> None:
    """Never answers the handshake."""
    await conn.gone()


async def tls_reset(conn: Connection) -> None:
    await conn.read(1)
    conn.reset()


async def tls_close(conn: Connection) -> None:
    await conn.read(1)


async def tls_slow_record(conn: Connection) -> None:
    await conn.read(1)
    await conn.trickle(record(HANDSHAKE, bytes(RECORD_BYTES)))


async def tls_long_record(conn: Connection) -> None:
    """A record that claims to be longer than TLS permits."""
    await conn.read(1)
    await conn.send(bytes([HANDSHAKE]) + VERSION + b"\xff\xff")
    await conn.flood(bytes(BLOCK_BYTES))


async def tls_empty_records(conn: Connection) -> None:
    await conn.read(1)
    await conn.flood(record(HANDSHAKE, b""))


async def tls_endless_message(conn: Connection) -> None:
    """A handshake message of 16 MiB, in records of the maximum length."""
    await conn.read(1)
    message = bytes([SERVER_HELLO]) + b"\xff\xff\xff"
    await conn.send(record(HANDSHAKE, message + bytes(RECORD_BYTES - len(message))))
    await conn.flood(record(HANDSHAKE, bytes(RECORD_BYTES)))


async def tls_warnings(conn: Connection) -> None:
    """Warning alerts (no_renegotiation), which do not end a connection."""
    await conn.read(1)
    await conn.flood(record(ALERT, bytes([1, 100])))


async def tls_early_data(conn: Connection) -> None:
    """Application data before the handshake."""
    await conn.read(1)
    await conn.flood(record(APPLICATION, bytes(1000)))


BEHAVIOURS = named(
    tls_close,
    tls_early_data,
    tls_empty_records,
    tls_endless_message,
    tls_garbage,
    tls_long_record,
    tls_reset,
    tls_slow_record,
    tls_stall,
    tls_warnings,
)
