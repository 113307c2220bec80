"""Reads what can be read of a protobuf message that the protobuf library refuses as a whole.

One string that is not UTF-8 makes the library refuse the whole message, and a list of a runtime has labels that other
users of the runtime chose. ``Salvage`` walks over the bytes with the message's descriptor: a field that cannot be read
is absent, and an entry of a map, or an item of a list, without its frame is left out. Everything else stays.
"""

from functools import cache
from typing import Any, Final, NamedTuple

from probelet.errors import ProbeletError

ELEMENTS_MAX: Final = 2**18
"""Most messages inside one message. A message inside another takes two bytes of an answer and about 150 bytes of
memory, so that without this limit an answer of 16 MiB takes 1.2 GiB."""

VARINT_BYTES_MAX: Final = 10
TAG_BYTES_MAX: Final = 5
TAG_MAX: Final = 2**32 - 1

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5


class UnreadableError(ProbeletError, ValueError):
    """The bytes are no protobuf message, or one with more than ``ELEMENTS_MAX`` messages inside."""


class _TooManyError(UnreadableError):
    """The whole answer is refused, not only the message that was one too many."""


class _Field(NamedTuple):
    is_text: bool
    kind: Any
    """The descriptor of the field's message; None for a field that is no message."""


@cache
def _fields(kind: Any) -> dict[int, _Field]:
    """The fields that can be unreadable on their own, by number."""
    return {
        field.number: _Field(field.type == field.TYPE_STRING, field.message_type)
        for field in kind.fields
        if field.type in (field.TYPE_STRING, field.TYPE_MESSAGE)
    }


class Salvage:
    """One walk over one message. ``left_out`` counts the fields, entries and items that could not be read."""

    def __init__(self) -> None:
        self.left_out = 0
        self._elements = 0

    def readable(self, data: bytes, kind: Any) -> bytes:
        """The message without its unreadable parts; ``data`` itself if it has none. Raises UnreadableError."""
        fields, kept, kept_from, at = _fields(kind), [], 0, 0
        while at < len(data):
            begins = at
            number, at, stop = _frame(data, at)
            field = fields.get(number)
            if field is not None:
                part = self._part(data[at:stop], field)
                if part is None or len(part) != stop - at:
                    if kind.GetOptions().map_entry:
                        raise UnreadableError("an entry of a map without its key or value")
                    kept.append(data[kept_from:begins])
                    kept_from = stop
                    if part is not None:
                        kept.append(_framed(number, part))
            at = stop
        return b"".join([*kept, data[kept_from:]]) if kept else data

    def _part(self, data: bytes, field: _Field) -> bytes | None:
        """Returns the readable part of a field, None if there is none."""
        try:
            if field.is_text:
                data.decode()
                return data
            self._elements += 1
            if self._elements > ELEMENTS_MAX:
                raise _TooManyError(f"more than {ELEMENTS_MAX} messages in one")
            return self.readable(data, field.kind)
        except _TooManyError:
            raise
        except (UnicodeDecodeError, UnreadableError):
            self.left_out += 1
            return None


def _frame(data: bytes, at: int) -> tuple[int, int, int]:
    """The field that begins at ``at``: its number if it has a length, else 0, and where its content begins and ends."""
    begins, key = at, data[at]
    at += 1
    if key > 0x7F:
        key, at = _varint(data, begins)
    if key < 8 or key > TAG_MAX or at - begins > TAG_BYTES_MAX:
        raise UnreadableError(f"illegal tag {key >> 3}")
    wire, length = key & 7, 0
    if wire == LENGTH_DELIMITED:
        length, at = _varint(data, at)
    elif wire == VARINT:
        _, at = _varint(data, at)
    elif wire == FIXED64:
        length = 8
    elif wire == FIXED32:
        length = 4
    else:
        # Groups are older than CRI: no message of it has any.
        raise UnreadableError(f"illegal wireType {wire}")
    if at + length > len(data):
        raise UnreadableError("unexpected EOF")
    return key >> 3 if wire == LENGTH_DELIMITED else 0, at, at + length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at ``at``, and where it ends."""
    value = 0
    for shift in range(0, 7 * VARINT_BYTES_MAX, 7):
        if at >= len(data):
            raise UnreadableError("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise UnreadableError("integer overflow")


def _framed(number: int, content: bytes) -> bytes:
    return _encoded(number << 3 | LENGTH_DELIMITED) + _encoded(len(content)) + content


def _encoded(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
