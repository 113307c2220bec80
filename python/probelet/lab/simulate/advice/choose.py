"""Plays what may help, and keeps what does."""

from collections.abc import Callable, Iterable
from typing import Final

from probelet.lab.picture.document import AdviceRow, VerdictRow
from probelet.lab.simulate.advice.change import Change
from probelet.lab.simulate.advice.ladders import Ladder

KEPT: Final = 3
"""Pieces of advice in a document."""
ENOUGH: Final = 0.01
"""A rung that leaves no more than this share of the lost requests needs no stronger one."""
HELPS: Final = 0.1
"""The share of the lost requests that advice saves at least."""

Try = Callable[[Change], VerdictRow | None]
"""Plays a change; None if the play was interrupted."""


def choose(ladders: Iterable[Ladder], base: VerdictRow, most: int, play: Try) -> tuple[list[AdviceRow], int]:
    """Returns the changes that help, best first, and how many changes were played, ``most`` at most."""
    tried = 0
    found: list[tuple[tuple[float, ...], int, AdviceRow]] = []
    for order, ladder in enumerate(ladders):
        best: AdviceRow | None = None
        for change in ladder:
            if tried >= most:
                break
            verdict = play(change)
            if verdict is None:
                return _sorted(found), tried
            tried += 1
            if helps(verdict, base) and (best is None or climbs(verdict, best["verdict"], base)):
                best = _row(change, verdict)
            if best is not None and _enough(best["verdict"], base):
                break
        if best is not None:
            found.append((score(best["verdict"]), order, best))
    return _sorted(found), tried


def score(verdict: VerdictRow) -> tuple[float, ...]:
    """How bad a verdict is; smaller is better."""
    requests = verdict["requests"]
    return (
        0.0 if verdict["recovered"] else 1.0,
        float(requests["lost"]),
        float(verdict["kills"]),
        float(verdict["unready_pods_max"]),
        float(requests["late"]),
    )


def helps(verdict: VerdictRow, base: VerdictRow) -> bool:
    """Whether a verdict is better by more than noise, and in nothing worse that counts more."""
    if verdict["recovered"] != base["recovered"]:
        return verdict["recovered"]
    lost, before = verdict["requests"]["lost"], base["requests"]["lost"]
    if before - lost >= max(before * HELPS, 1):
        return True
    return lost <= before and (
        verdict["kills"] < base["kills"]
        or (verdict["kills"] == base["kills"] and verdict["unready_pods_max"] < base["unready_pods_max"])
    )


def climbs(verdict: VerdictRow, lower: VerdictRow, base: VerdictRow) -> bool:
    """Whether a stronger rung is worth its price: it saves much more than the rung below."""
    if verdict["recovered"] != lower["recovered"]:
        return verdict["recovered"]
    saved = lower["requests"]["lost"] - verdict["requests"]["lost"]
    return saved >= max(base["requests"]["lost"] * HELPS, 1) or (saved >= 0 and verdict["kills"] < lower["kills"] / 2)


def _enough(verdict: VerdictRow, base: VerdictRow) -> bool:
    lost, before = verdict["requests"]["lost"], base["requests"]["lost"]
    return verdict["recovered"] and not verdict["kills"] and not verdict["unready_pods_max"] and lost <= before * ENOUGH


def _row(change: Change, verdict: VerdictRow) -> AdviceRow:
    return AdviceRow(
        id=change.id,
        object=change.workload.object,
        path=change.path,
        old=change.old,
        new=change.new,
        why=change.why,
        verdict=verdict,
    )


def _sorted(found: list[tuple[tuple[float, ...], int, AdviceRow]]) -> list[AdviceRow]:
    return [row for *_, row in sorted(found, key=lambda each: each[:2])][:KEPT]
