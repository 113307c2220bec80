"""Says how long a simulation will take, if that is long, and shows its progress on a terminal."""

import sys
import time
from typing import TYPE_CHECKING, Final

from probelet.cli.terminal import complain

if TYPE_CHECKING:
    from probelet.lab.simulate import Progress

LONG_SECONDS: Final = 600
"""A longer simulation says so first."""
SHOWN_SECONDS: Final = 2
"""A simulation that takes less shows no progress."""


class ProgressLine:
    """One line on stderr that is written over; nothing but the warning if stderr is no terminal."""

    def __init__(self, plays: int) -> None:
        """``plays`` is how many simulations there may be, the first one included."""
        self._plays = plays
        self._began = time.monotonic()
        self._first: tuple[float, float] | None = None
        self._warned = False
        self._shown = False
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, progress: "Progress") -> None:
        """Take note of progress."""
        now = time.monotonic()
        if progress.what == "manifests" and not self._warned:
            self._estimate(now, progress.share)
        if self._is_terminal and now - self._began > SHOWN_SECONDS:
            self._shown = True
            sys.stderr.write(f"\r{progress.what}: {progress.share:4.0%}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _estimate(self, now: float, share: float) -> None:
        """Warn of a long simulation. Its first part also has the start of everything, so the second one counts."""
        if self._first is None:
            self._first = (now, share)
            return
        at, before = self._first
        whole = (now - at) / (share - before)
        seconds = at - self._began + whole * self._plays
        if seconds > LONG_SECONDS:
            self._warned = True
            minutes = round(seconds / 60)
            complain(f"probelet simulate: this may take {minutes} minutes; Ctrl-C ends it with what there is so far")
