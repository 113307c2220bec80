"""Repeats a display until the user leaves: in place on a terminal, line after line into a pipe."""

import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Pause between two displays: a person reads no faster, and the service answers from memory.
WATCH_SECONDS = 1.0
# Keys that leave: q, and Ctrl-D, which reaches us as a byte because the terminal has no line discipline.
LEAVE = frozenset(b"qQ\x04")


def watch(refresh: "Callable[[], RenderableType | None]", out: "Console", seconds: float | None) -> None:
    """Calls ``refresh`` every second for ``seconds``, or until q or Ctrl-C.

    On a terminal the result replaces the previous one; a ``refresh`` that returns None has printed by itself.
    """
    from rich.live import Live

    deadline = None if seconds is None else time.monotonic() + seconds
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        display: Live | None = None
        left = stack.enter_context(_keys(wanted=out.is_terminal))
        while True:
            seen = refresh()
            if seen is not None:
                display = display or stack.enter_context(Live(console=out, auto_refresh=False))
                display.update(seen, refresh=True)
            pause = WATCH_SECONDS if deadline is None else min(deadline - time.monotonic(), WATCH_SECONDS)
            if pause <= 0 or left(pause):
                return


@contextmanager
def _keys(*, wanted: bool) -> Iterator[Callable[[float], bool]]:
    """Yields a function that waits for seconds and returns True if the user pressed a key to leave.

    Restores the terminal's settings afterwards.
    """
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
    """True if we can read keys: only in the foreground, because the kernel stops a background reader."""
    try:
        return os.isatty(sys.stdin.fileno()) and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        # Standard input is closed or missing.
        return False


def _slept(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _key(keyboard: int, seconds: float) -> bool:
    """True for a key that leaves; another key ends the wait early."""
    readable, _, _ = select.select([keyboard], [], [], seconds)
    if not readable:
        return False
    typed = os.read(keyboard, 64)
    return not typed or bool(LEAVE & set(typed))
