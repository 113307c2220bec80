"""How long to wait after a failed request: exponential back-off with jitter, and never less than the server asks for.

The defaults are those of client-go's reflector (tools/cache/reflector.go, ``NewReflectorWithOptions``, 1.36): 800 ms to
30 s, doubled, up to twice as long by chance, from the beginning again after two minutes without a failure.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from probelet.spec.text.duration import SECOND

FIRST_NS: Final = 800_000_000
LONGEST_NS: Final = 30 * SECOND
RESET_NS: Final = 120 * SECOND


@dataclass(slots=True)
class Pace:
    """The waits of one thing that is tried again and again."""

    first_ns: int = FIRST_NS
    longest_ns: int = LONGEST_NS
    reset_ns: int = RESET_NS
    chance: Callable[[], float] = random.random
    """A number from 0 to 1; without it all clients of a server that comes back would come back together."""
    _delay_ns: int = 0
    _failed_ns: int = 0

    def first(self) -> int:
        """Nanoseconds to wait after what is no failure, so that not all clients come at once."""
        return int(self.first_ns * (1 + self.chance()))

    def after_failure(self, now: int, retry_after_ns: int = 0) -> int:
        """Nanoseconds to wait after a failure at ``now``, at least ``retry_after_ns``."""
        if not self._delay_ns or now - self._failed_ns > self.reset_ns:
            self._delay_ns = self.first_ns
        else:
            self._delay_ns = min(2 * self._delay_ns, self.longest_ns)
        self._failed_ns = now
        return max(retry_after_ns, int(self._delay_ns * (1 + self.chance())))
