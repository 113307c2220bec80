"""Log lines of libraries: peers, targets and runtimes cause them, as often as they like."""

import logging
import time
from collections.abc import Callable
from typing import Final

KINDS_MAX: Final = 64
"""Kinds of lines with a second of their own; further ones share one. Libraries have a few dozen."""

PAUSE_SECONDS: Final = 1.0


class LibraryLines(logging.Filter):
    """Lets each kind of line of a library pass once a second. ``more`` in a line says how many were left out before."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._written: dict[tuple[str, str], float] = {}
        self._more: dict[tuple[str, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the record is to be written."""
        if record.name.partition(".")[0] == "probelet":
            return True
        # The text before its arguments are filled in.
        kind = (record.name, str(record.msg))
        if kind not in self._written and len(self._written) >= KINDS_MAX:
            kind = ("", "")
        now = self._now()
        if now - self._written.get(kind, float("-inf")) < PAUSE_SECONDS:
            self._more[kind] = self._more.get(kind, 0) + 1
            return False
        self._written[kind] = now
        if more := self._more.pop(kind, 0):
            record.more = more
        return True
