"""Log lines that others can cause: one a second, with the count of those before it."""

import time
from collections.abc import Callable
from typing import Any, Final

PAUSE_SECONDS: Final = 1.0


class PacedLog:
    """Writes a line at most once a second. ``more`` in a line says how many were left out before it."""

    def __init__(self, write: Callable[..., Any], text: str, now: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._text = text
        self._now = now
        self._written = float("-inf")
        self._more = 0

    def __call__(self, **fields: Any) -> None:
        """Writes the line, or counts it."""
        now = self._now()
        if now - self._written < PAUSE_SECONDS:
            self._more += 1
            return
        more, self._more, self._written = self._more, 0, now
        self._write(self._text, **fields, **({"more": more} if more else {}))
