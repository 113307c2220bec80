"""The records of a log in the CRI's format: ``<RFC 3339 time> <stdout|stderr> <tags> <text>``.

The first tag is ``F`` for a full line and ``P`` for a part of a line (cri-client pkg/logs/logs.go:parseCRILog, 1.36).
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

HEADER_BYTES_MAX: Final = 128
"""A line without a header in its first bytes is no record."""

_HEADER: Final = re.compile(
    rb"(?P<second>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?"
    rb"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2}) (?P<stream>stdout|stderr) (?P<tags>[^ \n]*) "
)


class Header(NamedTuple):
    """The head before the text of a record."""

    second: str
    fraction: str
    zone: str
    stream: str
    partial: bool
    """True for a part of a line: its record's newline is not in the text."""
    length: int
    """Bytes of the header, with the blank at its end."""

    @property
    def timestamp(self) -> str:
        """The time with nine digits after the second, as ``kubectl logs --timestamps`` prints it."""
        return f"{self.second}.{self.fraction:0<9}{self.zone}"

    @property
    def unix_ns(self) -> int:
        """The time in nanoseconds since 1970. Raises ValueError for a time such as the 31st of February."""
        return _unix_seconds(self.second + self.zone) * 1_000_000_000 + int(f"{self.fraction:0<9}")


@lru_cache(maxsize=16)
def _unix_seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def read_header(line: bytes) -> Header | None:
    """The header of a record; None if ``line`` begins with none."""
    found = _HEADER.match(line)
    if found is None:
        return None
    return Header(
        found["second"].decode(),
        (found["fraction"] or b"").decode(),
        found["zone"].decode(),
        found["stream"].decode(),
        found["tags"].partition(b":")[0] == b"P",
        found.end(),
    )


class Piece(NamedTuple):
    """Bytes of a record's text. The text of a full line ends with its newline."""

    header: Header
    text: bytes


class RecordReader:
    """Converts the bytes of a log, in pieces of any size, to the text of its records.

    It keeps at most ``HEADER_BYTES_MAX`` bytes, however long a record is. A line that is no record is left out.
    """

    def __init__(self) -> None:
        self._begun = b""
        self._header: Header | None = None
        self._skipping = False

    def pieces(self, data: bytes) -> Iterator[Piece]:
        """The text that ``data`` adds."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            yield from self._line(line, ended=True)
        if rest:
            yield from self._line(rest, ended=False)

    def _line(self, data: bytes, *, ended: bool) -> Iterator[Piece]:
        header = self._header
        if header is None and not self._skipping:
            begun = self._begun + data[:HEADER_BYTES_MAX]
            header = self._header = read_header(begun)
            if header is None:
                self._begun = begun[:HEADER_BYTES_MAX]
                self._skipping = len(begun) > HEADER_BYTES_MAX
            else:
                data = data[header.length - len(self._begun) :]
        if header is not None:
            text = data if header.partial or not ended else data + b"\n"
            if text:
                yield Piece(header, text)
        if ended:
            self._begun, self._header, self._skipping = b"", None, False
        elif header is not None:
            self._begun = b""
