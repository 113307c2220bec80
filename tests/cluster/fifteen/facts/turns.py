"""A value that turns: its values one after another, and when each came."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.facts.fact import Fact

TURN_SECONDS = 2.0
"""Two sides may take each turn so far apart: a probe begins up to a period of a second late, and a container starts
beside others."""
COMPARED_MAX = 5
"""Later turns have the lateness of every earlier one."""
AT_ONCE = 2
"""So many restarts of a container that ends come without a back-off."""


@dataclass(frozen=True)
class Life:
    """The start of a pod's first container, and the end of its last life without a back-off, after which a kubelet
    wakes up to half a delay late; seconds since 1970."""

    began: float
    backs_off: float

    @classmethod
    def of(cls, side: ClusterSide, pod: str) -> "Life":
        lives = side.of(pod).values()
        starts = [one.started for rows in lives for one in rows if one.started]
        ends = [rows[AT_ONCE].finished for rows in lives if len(rows) > AT_ONCE and rows[AT_ONCE].finished]
        return cls(min(starts, default=side.mark("begin")), min(ends, default=side.mark("end")))


@dataclass(frozen=True)
class Turns:
    """Each value with its moment, in seconds since 1970."""

    rows: Sequence[tuple[float, str]]

    @classmethod
    def of(cls, rows: Sequence[tuple[float, str]], end: float) -> "Turns":
        """Without repetitions, up to a moment."""
        kept: list[tuple[float, str]] = []
        for at, value in rows:
            if at < end and (not kept or kept[-1][1] != value):
                kept.append((at, value))
        return cls(kept)

    def facts(self, name: str, other: "Turns", life: Life, others_life: Life) -> list[Fact]:
        """The values, and the moments after the start. The end of the play cuts one turn more from one side."""
        mine, theirs = self.before(life.backs_off), other.before(others_life.backs_off)
        cut = abs(mine - theirs) <= 1 or mine < len(self.rows) or theirs < len(other.rows)
        many = min(mine, theirs) if cut else mine
        values = [value for _, value in self.rows[:many]]
        moments = [at - life.began for at, _ in self.rows[1 : min(many, COMPARED_MAX)]]
        return [Fact(f"{name}: turns", values), Fact(f"{name}: turns, after s", moments, TURN_SECONDS)]

    def before(self, end: float) -> int:
        """The number of turns before a moment."""
        return sum(at < end for at, _ in self.rows)
