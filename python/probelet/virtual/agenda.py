"""The clock of a node in virtual time, and what happens when."""

import heapq
from collections.abc import Callable
from typing import Protocol


class Entry:
    """One thing on the agenda. ``cancel`` removes it."""

    __slots__ = ("do",)

    def __init__(self, do: Callable[[], object]) -> None:
        self.do: Callable[[], object] | None = do

    def cancel(self) -> None:
        """Do not do it."""
        self.do = None


class Agenda:
    """The future events by their time in nanoseconds. Entries of the same moment happen in the order in which they were
    added."""

    def __init__(self) -> None:
        self.now = 0
        self._order = 0
        self._queue: list[tuple[int, int, Entry]] = []

    def at(self, moment: int, do: Callable[[], object]) -> Entry:
        """Do this at ``moment``; if that moment is over, now, after the entries that are due already."""
        self._order += 1
        entry = Entry(do)
        heapq.heappush(self._queue, (moment, self._order, entry))
        return entry

    def next_ns(self) -> int | None:
        """When the next entry is due; None without one."""
        queue = self._queue
        while queue and queue[0][2].do is None:
            heapq.heappop(queue)
        return queue[0][0] if queue else None

    def run_due(self) -> None:
        """Do everything that is due now, in order."""
        queue, now = self._queue, self.now
        while queue and queue[0][0] <= now:
            do = heapq.heappop(queue)[2].do
            if do is not None:
                do()


class Deadlines(Protocol):
    """A second source of deadlines beside the agenda: the prober."""

    def next_ns(self) -> int | None:
        """When it has something to do without a further input; None if never."""

    def advance(self, now: int) -> None:
        """Do everything that is due at ``now``."""


def next_moment(agenda: Agenda, prober: Deadlines) -> int | None:
    """When something happens next; None if nothing ever does."""
    entry, probe = agenda.next_ns(), prober.next_ns()
    if entry is None or probe is None:
        return probe if entry is None else entry
    return min(entry, probe)


def play(agenda: Agenda, prober: Deadlines, until_ns: int) -> None:
    """Play on until ``until_ns``, including everything due at that moment."""
    while True:
        prober.advance(agenda.now)
        agenda.run_due()
        moment = next_moment(agenda, prober)
        if moment is None or moment > until_ns:
            break
        agenda.now = max(agenda.now, moment)
    agenda.now = max(agenda.now, until_ns)
    prober.advance(agenda.now)
