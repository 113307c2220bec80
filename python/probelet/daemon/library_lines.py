"""Log lines of libraries: peers, targets and runtimes cause them, as often as they like."""

import logging
import time
from collections.abc import Callable
from typing import Final

from probelet.base.exposition.paced_log import Pace

KINDS_MAX: Final = 64
"""Kinds of lines with a second of their own; further ones share one. Libraries have a few dozen."""


class LibraryLines(logging.Filter):
    """Lets each kind of line of a library pass once a second. ``more`` in a line says how many were left out before."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._paces: dict[tuple[str, str], Pace] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the record is to be written."""
        if record.name.partition(".")[0] == "probelet":
            return True
        # The text before its arguments are filled in.
        kind = (record.name, str(record.msg))
        if kind not in self._paces and len(self._paces) >= KINDS_MAX:
            kind = ("", "")
        more = self._paces.setdefault(kind, Pace()).passes(self._now())
        if more:
            record.more = more
        return more is not None
