"""Answers of an API server as bytes, within limits: a body, and the lines of a watch."""

from collections.abc import AsyncGenerator
from typing import Any, Final

import httpx2
import msgspec

from probelet.kube.error import Call, Garbage

BODY_BYTES_MAX: Final = 256 * 1024 * 1024
"""A list without pages of 10,000 pods with 25 kB each."""

LINE_BYTES_MAX: Final = 16 * 1024 * 1024
"""An object in etcd has at most 1.5 MiB, as JSON a few times that."""


class WatchEvent(msgspec.Struct):
    """One line of a watch."""

    type: str
    """ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""
    object: dict[str, Any]


class ListMeta(msgspec.Struct, rename="camel"):
    """``metadata`` of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class ListBody(msgspec.Struct):
    """A list, or one page of it."""

    metadata: ListMeta
    # Go writes null for an empty slice that is nil.
    items: list[dict[str, Any]] | None = None


_EVENT: Final = msgspec.json.Decoder(WatchEvent)
_LIST: Final = msgspec.json.Decoder(ListBody)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


async def read_body(call: Call, response: httpx2.Response) -> bytes:
    """The whole body. Raises Garbage for a longer one, and errors of the HTTP library."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > BODY_BYTES_MAX:
            raise Garbage(call, f"the body is longer than {BODY_BYTES_MAX} bytes")
    return bytes(body)


async def read_lines(call: Call, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """The lines of a body that does not end. Raises Garbage for a longer line, and errors of the HTTP library."""
    pending = bytearray()
    async for piece in response.aiter_bytes():
        # Only the new piece can hold a line end: a long object comes in many pieces.
        begin = len(pending)
        pending += piece
        start = 0
        while (end := pending.find(b"\n", max(begin, start))) >= 0:
            if end > start:
                yield bytes(pending[start:end])
            start = end + 1
        del pending[:start]
        if len(pending) > LINE_BYTES_MAX:
            raise Garbage(call, f"a line is longer than {LINE_BYTES_MAX} bytes")
    if pending:
        yield bytes(pending)


def decode_event(call: Call, line: bytes) -> WatchEvent:
    """The event of a line. Raises Garbage."""
    try:
        return _EVENT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Garbage(call, f"a line that is no event: {error}") from error


def decode_list(call: Call, body: bytes) -> ListBody:
    """The list in a body. Raises Garbage."""
    try:
        return _LIST.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Garbage(call, f"not a list: {error}") from error


def decode_object(call: Call, body: bytes) -> dict[str, Any]:
    """The object in a body. Raises Garbage."""
    try:
        return _OBJECT.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Garbage(call, f"not an object: {error}") from error
