"""Stand-ins for the Go servers of some cases: net/http over HTTP/1.1 and HTTP/2, and grpc-go's health service; and
answers that a function writes."""

import threading
from collections.abc import Mapping
from typing import Any

import hpack

from probelet_conformance.handlers.server.connection import Connection, TlsConnection
from probelet_conformance.handlers.server.frames import (
    ACK,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    PING,
    PREFACE,
    SETTINGS,
    Frame,
    split,
)

# net/http's answer to plain HTTP on a TLS port.
PLAIN_TO_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
HANDSHAKE = b"\x16"
"""The first byte of a TLS record that begins a handshake."""
FRAME_BYTES_MAX = 16_384
STATUSES = {"UNKNOWN": 0, "SERVING": 1, "NOT_SERVING": 2, "SERVICE_UNKNOWN": 3}
NOT_FOUND = "5"

Fields = list[tuple[str, str]]


def serve(builtin: Mapping[str, Any], connection: Connection, over: threading.Event) -> None:
    """Serves one connection."""
    is_health = builtin["kind"] == "go-grpc-health"
    if is_health or builtin.get("h2c") or (isinstance(connection, TlsConnection) and connection.protocol == "h2"):
        Http2(builtin, connection, over).serve()
        return
    # A client that begins a TLS handshake here waits for an answer before it sends a request.
    while b"\r\n\r\n" not in connection.received and not connection.received.startswith(HANDSHAKE):
        if not connection.receive():
            return
    if builtin["kind"] == "function":
        if (answer := builtin["answer"](bytes(connection.received))) is not None:
            connection.send(answer)
        # Unread bytes would turn the close into a reset.
        connection.receive_left()
        connection.close()
        return
    over.wait(builtin.get("delay_ms", 0) / 1000)
    headers = {**builtin.get("headers", {}), "Content-Length": str(len(builtin.get("body", ""))), "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    connection.send(f"HTTP/1.1 {builtin['status']} X\r\n{lines}\r\n{builtin.get('body', '')}".encode())
    connection.close()


class Http2:
    """A minimal HTTP/2 server: it answers each request after its end."""

    def __init__(self, builtin: Mapping[str, Any], connection: Connection, over: threading.Event) -> None:
        self._builtin = builtin
        self._connection = connection
        self._over = over
        self._encoder = hpack.Encoder()
        self._bodies: dict[int, bytes] = {}

    def serve(self) -> None:
        self._send(SETTINGS, 0, 0, b"")
        seen = 0
        while self._connection.receive():
            if len(self._connection.received) < len(PREFACE):
                continue
            frames, _ = split(bytes(self._connection.received))
            for frame in frames[seen:]:
                self._handle(frame)
            seen = len(frames)

    def _handle(self, frame: Frame) -> None:
        if frame.kind in (SETTINGS, PING) and not frame.flags & ACK:
            self._send(frame.kind, ACK, 0, frame.payload if frame.kind == PING else b"")
        elif frame.kind == DATA:
            self._bodies[frame.stream] = self._bodies.get(frame.stream, b"") + frame.payload
        if frame.ends_stream:
            self._over.wait(self._builtin.get("delay_ms", 0) / 1000)
            self._answer(frame.stream, self._bodies.pop(frame.stream, b""))

    def _answer(self, stream: int, body: bytes) -> None:
        if self._builtin["kind"] == "go-grpc-health":
            self._answer_health(stream, body)
            return
        text = self._builtin.get("body", "").encode()
        headers = [(name.lower(), value) for name, value in self._builtin.get("headers", {}).items()]
        self._headers(stream, [(":status", str(self._builtin["status"])), *headers], ends=not text)
        for start in range(0, len(text), FRAME_BYTES_MAX):
            part = text[start : start + FRAME_BYTES_MAX]
            self._send(DATA, END_STREAM if start + len(part) == len(text) else 0, stream, part)

    def _answer_health(self, stream: int, message: bytes) -> None:
        # After the prefix of five bytes come field 1, its length, the service. Lengths are below 2^14 here.
        fields = message[5:]
        long = len(fields) > 2 and fields[1] & 0x80
        service = fields[3 if long else 2 :].decode()
        head = [(":status", "200"), ("content-type", "application/grpc")]
        status = self._builtin["services"].get(service)
        if status is None:
            self._headers(stream, [*head, ("grpc-status", NOT_FOUND), ("grpc-message", "unknown service")], ends=True)
            return
        self._headers(stream, head, ends=False)
        answer = bytes([8, STATUSES[status]]) if STATUSES[status] else b""
        self._send(DATA, 0, stream, bytes([0, 0, 0, 0, len(answer)]) + answer)
        self._headers(stream, [("grpc-status", "0"), ("grpc-message", "")], ends=True)

    def _headers(self, stream: int, fields: Fields, *, ends: bool) -> None:
        self._send(HEADERS, END_HEADERS | (END_STREAM if ends else 0), stream, self._encoder.encode(fields))

    def _send(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self._connection.send(Frame(kind, flags, stream, payload).bytes())
