"""Plays what may help, and keeps what does."""

from collections.abc import Callable, Iterable
from typing import Final

from probelet.lab.picture.document import AdviceRow, ChangeRow, VerdictRow
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


class Chooser:
    """Plays changes and keeps the helpful ones. ``add`` takes ladders, ``most`` of whose changes are played."""

    def __init__(self, base: VerdictRow, play: Try) -> None:
        self.is_interrupted = False
        self._base = base
        self._play = play
        self._found: list[AdviceRow] = []

    @property
    def best(self) -> list[AdviceRow]:
        """The changes that help, best first; of equals the one that was added first."""
        return sorted(self._found, key=lambda row: score(row["verdict"]))[:KEPT]

    @property
    def is_enough(self) -> bool:
        """Whether one of them leaves nothing that another change could save."""
        return any(_enough(row["verdict"], self._base) for row in self._found)

    def add(self, ladders: Iterable[Ladder], most: int, *, beats: bool = False) -> int:
        """Plays the changes and keeps the helpful ones; returns how many were played. ``beats``: it must be worth its
        price beside the best one so far, because it changes more."""
        tried = 0
        for ladder in ladders:
            lower = self.best[0]["verdict"] if beats and self._found else None
            best: AdviceRow | None = None
            for change in ladder:
                if tried >= most or self.is_interrupted:
                    break
                verdict = self._play(change)
                if verdict is None:
                    self.is_interrupted = True
                    break
                tried += 1
                beaten = lower if best is None else best["verdict"]
                if helps(verdict, self._base) and (beaten is None or climbs(verdict, beaten, self._base)):
                    best = _row(change, verdict)
                if best is not None and _enough(best["verdict"], self._base):
                    break
            if best is not None:
                self._found.append(best)
        return tried


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
    row = AdviceRow(
        id=change.id,
        object=change.workload.object,
        path=change.path,
        old=change.old,
        new=change.new,
        why=change.why,
        verdict=verdict,
    )
    if change.also:
        row["also"] = [
            ChangeRow(object=each.workload.object, path=each.path, old=each.old, new=each.new) for each in change.also
        ]
    return row
