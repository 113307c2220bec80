"""How long a kubelet lets a container wait for its next start after a failed liveness probe (1.36)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.kubelet.beside.seen.instance import Instance

DELAYS = {"native": (0, 0, 10, 20, 40, 80, 160), "taken": (0, 10, 20, 40, 80)}
"""Of each side, the delays of the restarts one after another: a kubelet that kills a container for the first time has
not seen an end of it before, and an exit that it did not order counts from the first one on."""
EARLY_SECONDS, LATE, LATE_SECONDS = 0.5, 1.5, 6.0
"""A kubelet looks at a container that waits again up to half a delay late; a start on a busy machine takes seconds."""
LOOK_SECONDS = 3.0
"""From the end of a life that it has killed to its look at the back-off, on a busy machine."""


def waits_of(lives: Sequence[Instance]) -> list[float]:
    """Seconds from the end of each life to the start of the next one."""
    return [after.started - one.finished for one, after in pairwise(lives)]


def possible(side: str, ends: Sequence[float]) -> list[set[int]]:
    """The delays that each wait may have, by the moments at which the lives ended.

    A kubelet that kills looks at the end of the life before: it starts the next one at once if that is longer ago than
    the delay (kuberuntime/kuberuntime_manager.go:doBackOff). It looks once the killed life has ended.
    """
    return next(_possible(side, ends))


def explains(side: str, ends: Sequence[float], waits: Sequence[float]) -> bool:
    """Whether these are the waits of a side.

    Once a minute the kubelet removes containers that have ended. If it removes the last one just before it looks, it
    knows of no end, so it starts the next life at once and does not count that.
    """
    return any(all(map(fits, waits, expected)) for expected in _possible(side, ends))


def _possible(side: str, ends: Sequence[float]) -> Iterator[list[set[int]]]:
    """The delays as they are, then with each end forgotten in turn."""
    delays = DELAYS[side]
    if side == "taken":
        yield [{delay} for delay in delays[: len(ends)]]
        return
    yield _native(delays, ends)
    for place in range(1, len(ends)):
        yield _native((*delays[:place], 0, *delays[place:]), ends)


def _native(delays: Sequence[int], ends: Sequence[float]) -> list[set[int]]:
    found = [{0}]
    for delay, (before, end) in zip(delays[1:], pairwise(ends), strict=False):
        gap = end - before
        at_once, later = {0} if gap + LOOK_SECONDS >= delay else set(), {delay} if gap < delay else set()
        found.append(at_once | later)
    return found


def fits(wait: float, delays: set[int]) -> bool:
    """Whether a wait is one of these delays."""
    return any(delay - EARLY_SECONDS <= wait <= delay * LATE + LATE_SECONDS for delay in delays)
