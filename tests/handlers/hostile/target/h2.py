"""HTTP/2 servers that do everything the protocol permits, and some things it does not; with TLS and without."""

from probelet_conformance.handlers.server.frames import (
    DATA,
    GOAWAY,
    HEADER_BYTES,
    HEADERS,
    PING,
    PREFACE,
    SETTINGS,
    WINDOW_UPDATE,
    Frame,
)

from tests.handlers.hostile.target.behaviour import named
from tests.handlers.hostile.target.connection import Connection

PRIORITY, RST_STREAM, PUSH_PROMISE, CONTINUATION, UNKNOWN = 2, 3, 5, 9, 0xEE
END_STREAM, END_HEADERS, ACK = 1, 4, 1
STREAM = 1
# HPACK: `:status: 200` from the static table, and the headers of an answer to a gRPC call.
OK = b"\x88"
GRPC = OK + b"\x00\x0ccontent-type\x10application/grpc"
TRAILERS = b"\x00\x0bgrpc-status\x010"
SERVING = b"\x00\x00\x00\x00\x02\x08\x01"
# The default limits of a frame and of the header table.
FRAME_BYTES = 16_384
TABLE_BYTES = 4_096


def frame(kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> bytes:
    return Frame(kind, flags, stream, payload).bytes()


def setting(number: int, value: int) -> bytes:
    return number.to_bytes(2, "big") + value.to_bytes(4, "big")


def length(value: int) -> bytes:
    """An HPACK integer with a prefix of seven bits."""
    if value < 127:
        return bytes([value])
    rest, octets = value - 127, [127]
    while rest >= 128:
        octets.append(rest % 128 | 128)
        rest //= 128
    return bytes([*octets, rest])


def literal(name: bytes, value: bytes, *, indexed: bool = False) -> bytes:
    return (b"\x40" if indexed else b"\x00") + length(len(name)) + name + length(len(value)) + value


async def greeted(conn: Connection, settings: bytes = b"") -> None:
    """Exchanges the prefaces, and from then on drops all that the client sends."""
    await conn.read(len(PREFACE))
    await conn.send(frame(SETTINGS, settings))
    conn.ignore()


async def asked(conn: Connection, settings: bytes = b"") -> None:
    """As `greeted`, but waits until the client has opened its stream: an earlier frame for it would be an error."""
    await conn.read(len(PREFACE))
    await conn.send(frame(SETTINGS, settings))
    kind = SETTINGS
    while kind != HEADERS:
        head = await conn.read(HEADER_BYTES)
        kind = head[3]
        await conn.read(int.from_bytes(head[:3], "big"))
    conn.ignore()


async def h2_settings(conn: Connection) -> None:
    await greeted(conn)
    await conn.flood(frame(SETTINGS, setting(4, 65_535)))


async def h2_settings_unread(conn: Connection) -> None:
    """The client must acknowledge each SETTINGS, and the server reads no acknowledgement."""
    await conn.read(len(PREFACE))
    await conn.flood(frame(SETTINGS, setting(4, 65_535)))


async def h2_pings(conn: Connection) -> None:
    await greeted(conn)
    await conn.flood(frame(PING, bytes(8)))


async def h2_pings_unread(conn: Connection) -> None:
    await conn.read(len(PREFACE))
    await conn.send(frame(SETTINGS))
    await conn.flood(frame(PING, bytes(8)))


async def h2_window_updates(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(WINDOW_UPDATE, (0x7FFF_FFFF - 65_535).to_bytes(4, "big")))
    await conn.flood(frame(WINDOW_UPDATE, (1).to_bytes(4, "big"), stream=STREAM))


async def h2_priorities(conn: Connection) -> None:
    await asked(conn)
    await conn.flood(frame(PRIORITY, bytes(5), stream=STREAM))


async def h2_unknown_frames(conn: Connection) -> None:
    await greeted(conn)
    await conn.flood(frame(UNKNOWN, bytes(FRAME_BYTES)))


async def h2_goaways(conn: Connection) -> None:
    """Announces again and again that it closes, and never closes."""
    await asked(conn)
    await conn.flood(frame(GOAWAY, STREAM.to_bytes(4, "big") + bytes(4)))


async def h2_goaway_with_long_text(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(GOAWAY, STREAM.to_bytes(4, "big") + (2).to_bytes(4, "big") + b"\x01" * (FRAME_BYTES - 8)))
    await conn.forever()


async def h2_resets(conn: Connection) -> None:
    """RST_STREAM for streams that the client did not open."""
    await greeted(conn)
    for stream in range(3, 2**31 - 1, 2):
        await conn.send(frame(RST_STREAM, (8).to_bytes(4, "big"), stream=stream))


async def h2_refused_streams(conn: Connection) -> None:
    """Refuses every stream, so that the client asks again and again."""
    await asked(conn)
    await conn.send(frame(RST_STREAM, (7).to_bytes(4, "big"), stream=STREAM))
    await conn.forever()


async def h2_pushes(conn: Connection) -> None:
    """PUSH_PROMISE to a client that has disabled push."""
    await asked(conn)
    for stream in range(2, 2**31 - 1, 2):
        promised = stream.to_bytes(4, "big") + OK
        await conn.send(frame(PUSH_PROMISE, promised, END_HEADERS, STREAM))


async def h2_continuations(conn: Connection) -> None:
    """A header block that never ends."""
    await asked(conn)
    field = literal(b"x", b"y" * 100)
    await conn.send(frame(HEADERS, OK, 0, STREAM))
    await conn.flood(frame(CONTINUATION, field * 100, 0, STREAM))


async def h2_empty_continuations(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(HEADERS, OK, 0, STREAM))
    await conn.flood(frame(CONTINUATION, b"", 0, STREAM))


async def h2_header_bomb(conn: Connection) -> None:
    """Refers thousands of times to one table entry: each byte decodes to four KiB."""
    await asked(conn)
    name = b"bomb"
    entry = literal(name, b"b" * (TABLE_BYTES - 32 - len(name)), indexed=True)
    named_again = b"\xbe" * (FRAME_BYTES - len(OK) - len(entry))
    await conn.send(frame(HEADERS, OK + entry + named_again, 0, STREAM))
    for _ in range(64):
        await conn.send(frame(CONTINUATION, b"\xbe" * FRAME_BYTES, 0, STREAM))
    await conn.send(frame(CONTINUATION, b"", END_HEADERS, STREAM))
    await conn.forever()


async def h2_held_references(conn: Connection) -> None:
    """A block that refers thousands of times to one table entry, and never ends."""
    await asked(conn)
    name = b"grpc-message"
    entry = literal(name, b"b" * (TABLE_BYTES - 32 - len(name)), indexed=True)
    await conn.send(frame(HEADERS, OK + entry + b"\xbe" * 2_300, 0, STREAM))
    await conn.forever()


async def h2_interim_heads(conn: Connection) -> None:
    """Sends 103 responses without end."""
    await asked(conn)
    await conn.flood(frame(HEADERS, b"\x08\x03103", END_HEADERS, STREAM))


async def h2_endless_data(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(HEADERS, OK, END_HEADERS, STREAM))
    await conn.flood(frame(DATA, bytes(FRAME_BYTES), 0, STREAM))


async def h2_empty_data(conn: Connection) -> None:
    """Empty DATA frames, which use up no flow-control window."""
    await asked(conn)
    await conn.send(frame(HEADERS, OK, END_HEADERS, STREAM))
    await conn.flood(frame(DATA, b"", 0, STREAM))


async def h2_long_frame(conn: Connection) -> None:
    """Announces a frame of 16 MiB."""
    await asked(conn)
    await conn.send(b"\xff\xff\xff" + bytes([DATA, 0]) + STREAM.to_bytes(4, "big"))
    await conn.flood(bytes(FRAME_BYTES))


async def h2_zero_window(conn: Connection) -> None:
    """Lets the client send no data, and answers nothing."""
    await greeted(conn, setting(4, 0))
    await conn.forever()


async def h2_no_streams(conn: Connection) -> None:
    """Lets the client open no stream."""
    await greeted(conn, setting(3, 0))
    await conn.forever()


async def h2_silence(conn: Connection) -> None:
    """Sends nothing, not even SETTINGS."""
    await conn.gone()


async def h2_slow_frames(conn: Connection) -> None:
    await asked(conn)
    await conn.trickle(frame(HEADERS, OK, END_HEADERS, STREAM) + frame(DATA, b"x" * 100, 0, STREAM))


async def h2_slow_data(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(HEADERS, OK, END_HEADERS, STREAM))
    await conn.trickle(frame(DATA, b"x" * 100, 0, STREAM))


async def h2_grpc_long_message(conn: Connection) -> None:
    """A message just below the limit, and data without end behind it."""
    await asked(conn)
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM))
    await conn.send(frame(DATA, b"\x00" + (4 << 20).to_bytes(4, "big"), 0, STREAM))
    await conn.flood(frame(DATA, bytes(FRAME_BYTES), 0, STREAM))


async def h2_grpc_held_message(conn: Connection) -> None:
    """A message of a megabyte in fields that no probe knows, of which the last byte is missing."""
    await asked(conn)
    field = b"\x12\x7e" + bytes(126)
    size = 1 << 20
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM))
    await conn.send(frame(DATA, b"\x00" + size.to_bytes(4, "big") + field, 0, STREAM))
    for _ in range(size // FRAME_BYTES - 1):
        await conn.send(frame(DATA, field * (FRAME_BYTES // len(field)), 0, STREAM))
    await conn.forever()


async def h2_grpc_endless_length(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM))
    await conn.send(frame(DATA, b"\x00\xff\xff\xff\xff", 0, STREAM))
    await conn.flood(frame(DATA, bytes(FRAME_BYTES), 0, STREAM))


async def h2_grpc_messages(conn: Connection) -> None:
    """Sends the answer again and again."""
    await asked(conn)
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM))
    await conn.flood(frame(DATA, SERVING, 0, STREAM))


async def h2_grpc_long_status(conn: Connection) -> None:
    """An error whose message is as long as the limit of headers permits."""
    await asked(conn)
    status = literal(b"grpc-status", b"13") + literal(b"grpc-message", b"m" * (1 << 20))
    first, rest = status[:FRAME_BYTES], status[FRAME_BYTES:]
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM))
    await conn.send(frame(HEADERS, first, END_STREAM, STREAM))
    while rest:
        first, rest = rest[:FRAME_BYTES], rest[FRAME_BYTES:]
        await conn.send(frame(CONTINUATION, first, 0 if rest else END_HEADERS, STREAM))
    await conn.forever()


async def h2_grpc_no_trailers(conn: Connection) -> None:
    await asked(conn)
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM) + frame(DATA, SERVING, END_STREAM, STREAM))
    await conn.forever()


async def h2_cut(conn: Connection) -> None:
    """Resets the connection in the middle of a frame."""
    await asked(conn)
    await conn.send(frame(HEADERS, GRPC, END_HEADERS, STREAM)[:12])
    conn.reset()


BEHAVIOURS = named(
    h2_continuations,
    h2_cut,
    h2_empty_continuations,
    h2_empty_data,
    h2_endless_data,
    h2_goaway_with_long_text,
    h2_goaways,
    h2_grpc_endless_length,
    h2_grpc_held_message,
    h2_grpc_long_message,
    h2_grpc_long_status,
    h2_grpc_messages,
    h2_grpc_no_trailers,
    h2_header_bomb,
    h2_held_references,
    h2_interim_heads,
    h2_long_frame,
    h2_no_streams,
    h2_pings,
    h2_pings_unread,
    h2_priorities,
    h2_pushes,
    h2_refused_streams,
    h2_resets,
    h2_settings,
    h2_settings_unread,
    h2_silence,
    h2_slow_data,
    h2_slow_frames,
    h2_unknown_frames,
    h2_window_updates,
    h2_zero_window,
)
