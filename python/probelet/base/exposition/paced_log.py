"""Log lines that others can cause: one a second, with the count of those before it."""

import time
from collections.abc import Callable
from typing import Any, Final

PAUSE_SECONDS: Final = 1.0


class Pace:
    """Lets one line pass in ``PAUSE_SECONDS``, and counts the others."""

    def __init__(self) -> None:
        self._written = float("-inf")
        self._more = 0

    def passes(self, now: float) -> int | None:
        """How many lines were left out before this one; None if this one is left out too."""
        if now - self._written < PAUSE_SECONDS:
            self._more += 1
            return None
        more, self._more, self._written = self._more, 0, now
        return more


class PacedLog:
    """Writes a line at most once a second. ``more`` in a line says how many were left out before it."""

    def __init__(self, write: Callable[..., Any], text: str, now: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._text = text
        self._now = now
        self._pace = Pace()

    def __call__(self, **fields: Any) -> None:
        """Writes the line, or counts it."""
        more = self._pace.passes(self._now())
        if more is not None:
            self._write(self._text, **fields, **({"more": more} if more else {}))
