"""Prints the text of a log, as ``kubectl logs`` does; on a terminal without the escape sequences that could harm it."""

import codecs
import re
from collections.abc import Iterable
from typing import BinaryIO

from probelet.base.logs.record import Header, RecordReader
from probelet.base.printable import printable_log

# The beginning of a colour that the next block may complete.
_BEGUN_COLOUR = re.compile("\x1b(?:\\[[0-9;:]{0,64})?\\Z")
_NO_COLOUR = "\x1b[0m"


class LogPrinter:
    """Prints the blocks of one log. Nothing but the end of a block stays in memory.

    Bytes go out as they are, unless ``terminal``. ``since_ns`` is Unix nanoseconds; an older record is left out.
    """

    def __init__(
        self, out: BinaryIO, *, terminal: bool, timestamps: bool = False, prefix: str = "", since_ns: int | None = None
    ) -> None:
        self._out = out
        self._records = RecordReader()
        self._shown = _TerminalText() if terminal else None
        self._timestamps = timestamps
        self._prefix = prefix.encode()
        self._since_ns = since_ns
        self._new_line = True

    def write(self, blocks: Iterable[bytes]) -> None:
        """Prints these blocks. Raises BrokenPipeError if nobody reads any more."""
        for block in blocks:
            for header, text in self._records.pieces(block):
                if not self._is_old(header):
                    self._out.write(self._line_begin(header) + self._text(header, text))
                    # Cri-client pkg/logs/logs.go: a line of another stream inside a long line does not begin anew.
                    self._new_line = text.endswith(b"\n")
        self._out.flush()

    def close(self) -> None:
        """Ends colours that the log has left on."""
        if self._shown is not None and self._shown.coloured:
            self._out.write(_NO_COLOUR.encode())
            self._out.flush()

    def _line_begin(self, header: Header) -> bytes:
        if not self._new_line:
            return b""
        return self._prefix + (f"{header.timestamp} ".encode() if self._timestamps else b"")

    def _text(self, header: Header, text: bytes) -> bytes:
        return text if self._shown is None else self._shown.of(header.stream, text)

    def _is_old(self, header: Header) -> bool:
        if self._since_ns is None:
            return False
        try:
            return header.unix_ns < self._since_ns
        except ValueError:
            return True


class _TerminalText:
    """Decodes the streams of a log, and escapes what a terminal would obey, except colours."""

    def __init__(self) -> None:
        self.coloured = False
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._begun = ""

    def of(self, stream: str, data: bytes) -> bytes:
        text = self._begun + self._decoders[stream].decode(data)
        begun = _BEGUN_COLOUR.search(text)
        self._begun = begun[0] if begun else ""
        shown = printable_log(text[: len(text) - len(self._begun)])
        self.coloured |= "\x1b" in shown
        return shown.encode()
