"""Log lines whose number somebody else decides: a runtime, or another user of it."""

from collections.abc import Callable
from typing import Any, Final

from probelet._rust import TokenBucket
from probelet.spec.text.duration import SECOND

LINES_BURST: Final = 20
"""Lines at once: a person reads each of the first ones."""

LINE_NS: Final = SECOND
"""Then one line in this time."""


class LimitedLog:
    """Warnings of one part of the node. After lines that were left out the next one says how many. ``now`` is in
    nanoseconds."""

    def __init__(self, log: Any, now: Callable[[], int]) -> None:
        self._log = log
        self._now = now
        self._lines = TokenBucket(burst=LINES_BURST, interval_ns=LINE_NS)
        self._left_out = 0

    def warning(self, event: str, **values: Any) -> None:
        if not self._lines.take(self._now()):
            self._left_out += 1
            return
        left_out = {"lines_left_out": self._left_out} if self._left_out else {}
        self._left_out = 0
        self._log.warning(event, **values, **left_out)
