"""Computes crash-loop back-off step by step, without probelet; the tests compare the model with it.

Whole nanoseconds. ``advertised`` is the arithmetic of KEP-4603: restart k comes after d1 + ... + dk. ``shipped`` is the
kubelet: a table of delays that is filled at a start and looked at after an exit.
"""

from collections.abc import Iterator
from itertools import islice

SECOND = 1_000_000_000
RESET = 600 * SECOND


def delays(initial: int, longest: int) -> Iterator[int]:
    delay = min(initial, longest)
    while True:
        yield delay
        delay = min(2 * delay, longest)


def advertised(initial: int, longest: int, count: int, run: int = 0) -> list[int]:
    at, found = 0, []
    for delay in islice(delays(initial, longest), count):
        at += run + delay
        found.append(at)
    return found


def shipped(initial: int, longest: int, count: int, run: int = 0) -> list[int]:
    """The exact scheduler; at the end of a wait it drops an entry without a start for ten minutes."""
    started, found = 0, []
    entry: tuple[int, int] | None = None  # delay, last start
    while len(found) < count:
        finished = now = started + run
        if entry is not None and finished - entry[1] > RESET:
            entry = None
        if entry is not None:
            now = finished + entry[0]
        if entry is not None and now - entry[1] > RESET:
            entry = None
        entry = (min(initial, longest) if entry is None else min(2 * entry[0], longest), now)
        started = now
        found.append(now)
    return found


class SplitMix64:
    """Steele, Lea, Flood 2014."""

    MASK = 2**64 - 1

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, bound: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        word = self.state
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & self.MASK
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB & self.MASK
        return ((word ^ (word >> 31)) * bound) >> 64


def by_kubelet(initial: int, longest: int, count: int, run: int, seed: int) -> list[int]:
    """Relists each second; retries a refused start after min(rest, 60 s) x [1, 1.5), on a whole second."""

    def ceil(at: int) -> int:
        return -(-at // SECOND) * SECOND

    random, started, found = SplitMix64(seed), 0, []
    entry: tuple[int, int] | None = None
    while len(found) < count:
        finished = started + run
        now = ceil(finished)
        while True:
            if entry is not None and (now - entry[1] > RESET or finished - entry[1] > RESET):
                entry = None
            if entry is None or now - finished >= entry[0]:
                break
            rest = min(finished + entry[0] - now, 60 * SECOND)
            now = ceil(now + rest + random.below(rest // 2))
        entry = (min(initial, longest) if entry is None else min(2 * entry[0], longest), now)
        started = now
        found.append(now)
    return found


def count(times: list[int], low: int, high: int) -> int:
    """The number of times in (low, high]; a ``low`` below 0 includes 0."""
    return sum(low < at <= high for at in times)
