"""Parses HTTP/2 frames into the recordings' form."""

import base64
import struct
from dataclasses import dataclass
from typing import Any

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADER_BYTES = 9
TYPES = ("DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE")
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK, END_STREAM, END_HEADERS = 1, 1, 4


@dataclass(frozen=True)
class Frame:
    """One frame as received."""

    kind: int
    flags: int
    stream: int
    payload: bytes

    @property
    def name(self) -> str:
        return TYPES[self.kind] if self.kind < len(TYPES) else f"UNKNOWN_{self.kind}"

    @property
    def ends_stream(self) -> bool:
        return self.kind in (DATA, HEADERS) and bool(self.flags & END_STREAM)

    def bytes(self) -> bytes:
        head = struct.pack(">I", len(self.payload))[1:] + bytes([self.kind, self.flags])
        return head + struct.pack(">I", self.stream) + self.payload


def split(data: bytes) -> tuple[list[Frame], int]:
    """The complete frames after the preface, and the number of bytes of preface and frames."""
    frames = []
    at = len(PREFACE)
    while len(data) >= at + HEADER_BYTES:
        length = int.from_bytes(data[at : at + 3], "big")
        end = at + HEADER_BYTES + length
        if len(data) < end:
            break
        stream = int.from_bytes(data[at + 5 : at + 9], "big") & 0x7FFF_FFFF
        frames.append(Frame(data[at + 3], data[at + 4], stream, data[at + HEADER_BYTES : end]))
        at = end
    return frames, at


def fields_of(frame: Frame, decoder: hpack.Decoder) -> list[tuple[str, str]]:
    return [(_text(name), _text(value)) for name, value in decoder.decode(frame.payload, raw=True)]


def _text(raw: bytes | str) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw


def requests_of(data: bytes) -> list[list[tuple[str, str]]]:
    """The fields of every request on a connection, sorted, without the timeout."""
    if not data.startswith(PREFACE):
        return []
    decoder = hpack.Decoder()
    found = [fields_of(frame, decoder) for frame in split(data)[0] if frame.kind == HEADERS]
    return [sorted((name, "{TIMEOUT}" if name == "grpc-timeout" else value) for name, value in one) for one in found]


def messages_of(data: bytes) -> bytes:
    """All DATA of a connection, joined."""
    return b"".join(frame.payload for frame in split(data)[0] if frame.kind == DATA)


def recorded_requests(h2: list[dict[str, Any]]) -> list[list[tuple[str, str]]]:
    """The same from a recording."""
    return [sorted((name, value) for name, value in frame["headers"]) for frame in h2 if frame["type"] == "HEADERS"]


def recorded_messages(h2: list[dict[str, Any]]) -> bytes:
    return b"".join(base64.b64decode(frame.get("data", "")) for frame in h2 if frame["type"] == "DATA")
