"""Answers of gRPC servers that compress: every way in which a member of gzip can be right or wrong."""

import base64
import gzip
import random
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import hpack
from probelet_conformance.handlers.server.frames import DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, Frame

SERVING = b"\x08\x01"
SEED = 1
MUTATED = 120
MESSAGE_BYTES_MAX = 4 << 20
FRAME_BYTES_MAX = 16_384
ENCODINGS = {
    "none": "",
    "identity": "identity",
    "upper_case": "GZIP",
    "deflate": "deflate",
    "with_a_space": "gzip ",
    "unknown": "x",
}


def cases() -> Iterator[dict[str, Any]]:
    """The cases, without what the handlers answer."""
    whole = gzip.compress(SERVING, mtime=0)
    yield case("serving", "a compressed answer", whole)
    yield case("not_serving", "a compressed answer of bad health", gzip.compress(b"\x08\x02", mtime=0))
    yield case("stored", "content that deflate only stores", gzip.compress(SERVING, 0, mtime=0))
    yield case("plain_flag", "the encoding is gzip and the flag is not set", SERVING, flag=0)
    yield case("flag_2", "a flag that does not exist", whole, flag=2)
    for name, encoding in ENCODINGS.items():
        yield case(f"encoding_{name}", f"a compressed answer, said to be in {encoding!r}", whole, encoding)
    yield case("empty", "no bytes at all", b"")
    yield case("plain", "bytes that are not compressed", SERVING)
    yield case(
        "two_members",
        "a message in two members",
        gzip.compress(SERVING[:1], mtime=0) + gzip.compress(SERVING[1:], mtime=0),
    )
    yield case("empty_member", "a member without content behind the message", whole + gzip.compress(b"", mtime=0))
    yield case("garbage_behind", "bytes behind the member", whole + b"abc")
    yield case("garbage_header_behind", "ten bytes behind the member", whole + b"0123456789")
    for end in (1, 3, 9, 10, 11, len(whole) - 8, len(whole) - 1):
        yield case(f"cut_{end}", f"the first {end} bytes of a member", whole[:end])
    for name, flags, header in headers():
        yield case(f"header_{name}", name.replace("_", " "), member(SERVING, flags, header))
    for name, at in (("magic", 0), ("method", 2), ("check", -8), ("size", -4)):
        yield case(f"wrong_{name}", f"a wrong {name}", flipped(whole, at))
    yield case("no_protobuf", "a compressed message that is none", gzip.compress(b"\x08", mtime=0))
    for name, size in (("largest", MESSAGE_BYTES_MAX), ("too_large", MESSAGE_BYTES_MAX + 1), ("bomb", 16 << 20)):
        yield case(name, f"{size} bytes when decompressed", gzip.compress(filled(size), mtime=0))
    over = gzip.compress(filled(MESSAGE_BYTES_MAX + 4096), mtime=0)
    yield case("too_large_and_wrong_check", "too large, with a wrong checksum", flipped(over, -8))
    at_most = gzip.compress(filled(MESSAGE_BYTES_MAX), mtime=0)
    yield case("largest_and_wrong_check", "the largest, with a wrong checksum", flipped(at_most, -8))
    yield case("before_the_beginning", "a match that refers to nothing", member(b"", deflated=b"\x03\x02\x00"))
    yield case("block_type_3", "a block of a type that does not exist", member(b"", deflated=b"\x07"))
    yield case("stored_lengths", "a stored block whose lengths differ", member(b"", deflated=b"\x01\x01\x00\x00\x00a"))
    yield case("two_messages", "two compressed messages", whole, again=True)
    yield case("bytewise", "a compressed answer byte by byte", whole, size=1)
    chosen = random.Random(SEED)
    for number in range(MUTATED):
        stream = bytearray(gzip.compress(SERVING + bytes([0x12, 40]) + chosen.randbytes(20) * 2, mtime=0))
        for _ in range(chosen.randint(1, 3)):
            stream[chosen.randrange(len(stream))] ^= 1 << chosen.randrange(8)
        yield case(f"mutated_{number:03}", f"a mutated member, seed {SEED}", bytes(stream))


def headers() -> Iterator[tuple[str, int, bytes]]:
    yield "extra", 4, b"\x03\x00abc"
    yield "empty_extra", 4, b"\x00\x00"
    yield "extra_longer_than_the_member", 4, b"\xff\xff"
    yield "name", 8, b"name\0"
    yield "name_of_511_bytes", 8, b"n" * 511 + b"\0"
    yield "name_of_512_bytes", 8, b"n" * 512 + b"\0"
    yield "comment", 16, b"comment\0"
    yield "everything", 4 | 8 | 16, b"\x01\x00xname\0comment\0"
    first = b"\x1f\x8b\x08\x02" + bytes(5) + b"\xff"
    yield "check", 2, struct.pack("<H", zlib.crc32(first) & 0xFFFF)
    yield "wrong_check", 2, b"\0\0"
    yield "reserved_flags", 0xE0, b""


def filled(size: int) -> bytes:
    """A message of ``size`` bytes: SERVING, and a field that no probe knows."""
    length = size - len(SERVING) - 5
    varint = bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14 & 0x7F | 0x80, length >> 21 & 0x7F])
    return SERVING + b"\x12" + varint + bytes(length)


def member(content: bytes, flags: int = 0, header: bytes = b"", deflated: bytes | None = None) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    body = deflater.compress(content) + deflater.flush() if deflated is None else deflated
    check = struct.pack("<II", zlib.crc32(content), len(content))
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\xff" + header + body + check


def flipped(data: bytes, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def case(
    name: str,
    reason: str,
    message: bytes,
    encoding: str = "gzip",
    *,
    flag: int = 1,
    again: bool = False,
    size: int = FRAME_BYTES_MAX,
) -> dict[str, Any]:
    fields = [(":status", "200"), ("content-type", "application/grpc")]
    fields += [("grpc-encoding", encoding)] if encoding else []
    encoder = hpack.Encoder()
    data = (bytes([flag]) + struct.pack(">I", len(message)) + message) * (2 if again else 1)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    frames = [
        Frame(HEADERS, END_HEADERS, 1, encoder.encode(fields)),
        *(Frame(DATA, 0, 1, piece) for piece in pieces),
        Frame(HEADERS, END_HEADERS | END_STREAM, 1, encoder.encode([("grpc-status", "0")])),
    ]
    answer = b"".join(frame.bytes() for frame in frames)
    steps = [
        {"op": "send", "data": base64.b64encode(Frame(SETTINGS, 0, 0, b"").bytes()).decode()},
        {"op": "read_h2", "frame": "DATA", "end_stream": True},
        {"op": "send", "data": base64.b64encode(answer).decode()},
    ]
    return {
        "name": f"gzip_{name}",
        "reason": reason,
        "handler": "grpc",
        "podIP": "127.0.0.1",
        "probe": {"grpc": {"port": "{PORT}", "service": None}, "timeoutSeconds": 5},
        "server": {
            "listeners": [{"port": "PORT", "address": "127.0.0.1", "mode": "script", "scripts": [{"steps": steps}]}]
        },
    }
