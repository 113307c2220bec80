"""The server's half of HTTP/2 that a probe needs: every request gets status 200.

No header of a request is read, so there is no HPACK decoder here: a request with a body is a gRPC health check, which
gets a message that says SERVING, and one without is a GET, which gets a text.
"""

from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_BYTES: Final = 9
FRAME_BYTES_MAX: Final = 16_384
"""The largest frame that a client may send unless it is asked for more (RFC 9113, section 4.2)."""

DATA, HEADERS, SETTINGS, PING, CONTINUATION = 0, 1, 4, 6, 9
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1

BODY: Final = b"ok\n"
SERVING: Final = b"\x00\x00\x00\x00\x02\x08\x01"
"""A gRPC message: not compressed, two bytes, `HealthCheckResponse.status = SERVING`."""


def _literal(text: bytes) -> bytes:
    return bytes([len(text)]) + text


# `:status: 200` is entry 8 of HPACK's static table, `content-type` entry 31.
_OK_AND_TYPE: Final = b"\x88" + b"\x0f\x10"
_TEXT_HEADERS: Final = _OK_AND_TYPE + _literal(b"text/plain")
_GRPC_HEADERS: Final = _OK_AND_TYPE + _literal(b"application/grpc")
_GRPC_TRAILERS: Final = b"\x00" + _literal(b"grpc-status") + _literal(b"0")


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def text(stream: int) -> bytes:
    """The whole answer to a GET."""
    return frame(HEADERS, END_HEADERS, stream, _TEXT_HEADERS) + frame(DATA, END_STREAM, stream, BODY)


def serving(stream: int) -> bytes:
    """The whole answer to a gRPC health check."""
    return (
        frame(HEADERS, END_HEADERS, stream, _GRPC_HEADERS)
        + frame(DATA, 0, stream, SERVING)
        + frame(HEADERS, END_HEADERS | END_STREAM, stream, _GRPC_TRAILERS)
    )


class Requests:
    """The streams of one connection: ``take`` gets each frame and returns the answer to a request that is complete."""

    def __init__(self) -> None:
        self._ends_with_headers = 0

    def take(self, kind: int, flags: int, stream: int) -> bytes | None:
        """A frame has come."""
        if kind == DATA:
            return serving(stream) if flags & END_STREAM else None
        if kind == HEADERS:
            if flags & END_STREAM and flags & END_HEADERS:
                return text(stream)
            self._ends_with_headers = stream if flags & END_STREAM else 0
        elif kind == CONTINUATION and flags & END_HEADERS and stream == self._ends_with_headers:
            self._ends_with_headers = 0
            return text(stream)
        return None
