"""Showing something again and again until somebody leaves: in its place on a terminal, line after line into a pipe."""

import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# How often: a person reads no faster, and the service answers from memory.
WATCH_SECONDS = 1.0
# What leaves: q, and Ctrl-D, which a terminal without line discipline hands over as it is.
LEAVE = frozenset(b"qQ\x04")


def watch(look: "Callable[[], RenderableType | None]", out: "Console", seconds: float | None) -> None:
    """Look every second for ``seconds``, or until q or Ctrl-C.

    On a terminal what ``look`` returns is kept in its place; a look that returns None has printed itself.
    """
    from rich.live import Live

    deadline = None if seconds is None else time.monotonic() + seconds
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        place: Live | None = None
        left = stack.enter_context(_keys(wanted=out.is_terminal))
        while True:
            seen = look()
            if seen is not None:
                place = place or stack.enter_context(Live(console=out, auto_refresh=False))
                place.update(seen, refresh=True)
            pause = WATCH_SECONDS if deadline is None else min(deadline - time.monotonic(), WATCH_SECONDS)
            if pause <= 0 or left(pause):
                return


@contextmanager
def _keys(*, wanted: bool) -> Iterator[Callable[[float], bool]]:
    """A pause of so many seconds that says whether somebody wants to leave; the terminal is as before afterwards."""
    if not wanted or not _is_terminal():
        yield _slept
        return
    import termios
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield lambda seconds: _key(keyboard, seconds)
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _is_terminal() -> bool:
    """Whether keys can be read: of the foreground, because the kernel stops others that ask."""
    try:
        return os.isatty(sys.stdin.fileno()) and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        # A stdin that is closed or none at all.
        return False


def _slept(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _key(keyboard: int, seconds: float) -> bool:
    """Any other key is a look at once."""
    readable, _, _ = select.select([keyboard], [], [], seconds)
    if not readable:
        return False
    typed = os.read(keyboard, 64)
    return not typed or bool(LEAVE & set(typed))
