"""How long a test waits for what has to come, and how often it looks."""

import asyncio
import time
from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 200.0
"""Enough for a very busy machine. Only a wait for something that never comes lasts so long; the timeout of pytest in
pyproject.toml is longer."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, LONGER = 0.01, 0.1, 1.5


def pauses(patience: float = PATIENCE_SECONDS) -> Iterator[float]:
    """The seconds to sleep after each look at something that gives no notice, until ``patience`` seconds have passed.

    Most of it comes at once. A look costs milliseconds of the processor, which other tests need, so after a fifth of a
    second there are ten looks a second.
    """
    deadline, pause = time.monotonic() + patience, FIRST_PAUSE_SECONDS
    while time.monotonic() < deadline:
        yield pause
        pause = min(pause * LONGER, LONGEST_PAUSE_SECONDS)


async def until(true: Callable[[], object]) -> None:
    """Looks until ``true`` returns true. Raises TimeoutError."""
    for pause in pauses():
        if true():
            return
        await asyncio.sleep(pause)
    raise TimeoutError
