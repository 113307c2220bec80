"""Protocol Buffers, as far as a trace needs them: writes fields, reads nothing.

The numbers of the fields are those of Perfetto's ``protos/perfetto/trace``. The messages are few, and Perfetto's own
generated module is larger than this package, so the fields are written by hand; the tests read them back with
Perfetto's module.
"""

import struct

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def varint(value: int) -> bytes:
    """A whole number from 0 to 2^64 - 1, seven bits to a byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def integer(field: int, value: int) -> bytes:
    """A field with a whole number; a negative one as its two's complement."""
    return varint(field << 3 | _VARINT) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def double(field: int, value: float) -> bytes:
    """A field with a number."""
    return varint(field << 3 | _FIXED64) + struct.pack("<d", value)


def message(field: int, *parts: bytes) -> bytes:
    """A field with a message, from its fields."""
    content = b"".join(parts)
    return varint(field << 3 | _LENGTH) + varint(len(content)) + content


def text(field: int, value: str) -> bytes:
    """A field with a text; what UTF-8 cannot hold is replaced."""
    return message(field, value.encode("utf-8", "replace"))
