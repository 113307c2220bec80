"""Texts of others in the log: containers, runtimes, callers and libraries write them, and none may write a line of its
own, tell a terminal what to do, or fill the disk with one line. JSON escapes what it must; this module escapes texts in
the lines for people.
"""

import traceback
from types import TracebackType
from typing import Any, Final, TextIO

import structlog

from probelet.base.printable import printable

TEXT_LENGTH_MAX: Final = 16 * 1024
"""The longest text of a line: more than the 10 KiB of output that a kubelet keeps of a probe."""

_Exception = tuple[type[BaseException], BaseException, TracebackType | None]


class _Escaped(str):
    """A text with escapes in place of control characters. The renderer quotes some texts by ``repr``, which escapes
    them itself."""

    _text: str

    def __new__(cls, text: str) -> "_Escaped":
        escaped = super().__new__(cls, printable(text))
        escaped._text = text
        return escaped

    def __repr__(self) -> str:
        return repr(self._text)


def cut(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Cuts each text that is too long; of a traceback it keeps the end, which names the error."""
    for key, value in event.items():
        if isinstance(value, str) and (more := len(value) - TEXT_LENGTH_MAX) > 0:
            event[key] = value[more:] if key == "exception" else f"{value[:TEXT_LENGTH_MAX]}... ({more} more)"
    return event


def escape(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Escapes the control characters of each text."""
    return {printable(key): _escaped(key, value) for key, value in event.items()}


def _escaped(key: str, value: Any) -> Any:
    if key == "event":
        return printable(str(value))
    return _Escaped(value) if isinstance(value, str) and not value.isprintable() else value


def write_traceback(stream: TextIO, error: _Exception) -> None:
    """Writes a traceback with each line indented, so that no line of it looks like one of the log. It leaves out the
    values of local variables."""
    text = "".join(traceback.format_exception(*error))[-TEXT_LENGTH_MAX:]
    for line in text.splitlines():
        stream.write(f"\n    {printable(line)}")
