"""How often each container ran, how it ended, and how long it waited to be started again."""

from itertools import pairwise

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.pods.changes import REMOVED
from tests.kubelet.beside.seen.instance import Instance
from tests.kubelet.beside.seen.side import Side

LOOPING = 3
"""A container that ran more often is in back-off: the side that waits longer has fewer instances."""
COMPARED_MAX = 5
LIFE_SECONDS = 2.2
"""Two lives may differ by this: a probe begins up to a second late, and so does the kill that follows."""
RELIST_SECONDS = 1.6


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    found = []
    theirs = other.of(pod)
    for name, all_rows in side.of(pod).items():
        rows = _within(side, pod, all_rows)
        counts = len(rows), len(_within(other, pod, theirs.get(name, [])))
        many = min(counts)
        looping = max(counts) > LOOPING
        if looping:
            rows = rows[: min(many, COMPARED_MAX)]
        ended = [one for one in rows if one.finished and one.finished < side.end_of(pod)]
        ended = ended[: many - 1] if looping else ended
        found += _lives(name, pod, rows, ended)
        found += _waits(name, rows)
    return found


def _within(side: Side, pod: str, rows: list[Instance]) -> list[Instance]:
    return [one for one in rows if one.started and one.started < side.end_of(pod)]


def _lives(name: str, pod: str, rows: list[Instance], ended: list[Instance]) -> list[Fact]:
    found = [
        Fact(f"{name}: attempts", [one.attempt for one in rows]),
        Fact(f"{name}: exit codes", [one.exit_code for one in ended]),
        Fact(f"{name}: exit reasons", sorted({one.reason for one in ended})),
        Fact(f"{name}: other pod UID", len({one.uid for one in rows}) > 1),
        Fact(f"{name}: more than one sandbox", len({one.sandbox for one in rows if one.sandbox}) > 1),
    ]
    if pod not in REMOVED and not pod.startswith(("change-", "killed", "active-deadline", "file-broken")):
        found.append(Fact(f"{name}: lives, s", [one.finished - one.started for one in ended], LIFE_SECONDS))
    return found


def _waits(name: str, rows: list[Instance]) -> list[Fact]:
    pairs = [(before, after) for before, after in pairwise(rows) if before.finished and before.uid == after.uid]
    waits = [after.started - before.finished for before, after in pairs]
    return [Fact(f"{name}: restarts, after s", waits, RELIST_SECONDS)]
