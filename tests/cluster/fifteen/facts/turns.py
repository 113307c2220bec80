"""A value that turns: its values one after another, and when each came."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.cluster.fifteen.pods import PODS, RESTARTED
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.facts.fact import Fact

TURN_SECONDS, BEGIN_SECONDS = 2.0, 1.3
"""Two sides may take each turn so far apart, or a period and the second number: where the ticks of a probe lie between
the starts of containers is chance, and a container starts beside others."""
DIP_SECONDS, RESTART_SECONDS = 0.6, 3.0
"""A value that turns back sooner is a dip, which only some clients see. The second number is for a pod whose containers
are killed and started again: on a busy machine that takes up to two seconds, and a back-off takes ten."""
COMPARED_MAX = 5
"""Later turns have the lateness of every earlier one."""
BACK_OFF_SECONDS = 5.0
"""A container that is started sooner after its end was not held back."""


@dataclass(frozen=True)
class Life:
    """The start of a pod's first container, and the end of its last life before a back-off, after which a kubelet wakes
    up to half a delay late; seconds since 1970."""

    began: float
    backs_off: float

    @classmethod
    def of(cls, side: ClusterSide, pod: str) -> "Life":
        lives = side.of(pod).values()
        starts = [one.started for rows in lives for one in rows if one.started]
        pairs = [pair for rows in lives for pair in pairwise(rows)]
        ends = [one.finished for one, after in pairs if 0 < one.finished < after.started - BACK_OFF_SECONDS]
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

    def without_dips(self, usual: str, pod: str) -> "Turns":
        """Without the turns from a value and soon back."""
        soon = RESTART_SECONDS if pod in RESTARTED else DIP_SECONDS
        kept: list[tuple[float, str]] = []
        for at, value in self.rows:
            if len(kept) > 1 and kept[-2][1] == value == usual and at - kept[-1][0] < soon:
                kept.pop()
            else:
                kept.append((at, value))
        return Turns(kept)

    def since(self, value: str) -> "Turns":
        """From the first of this value on."""
        first = next((number for number, (_, one) in enumerate(self.rows) if one == value), len(self.rows))
        return Turns(self.rows[first:])

    def facts(self, name: str, other: "Turns", pod: str, life: Life, others_life: Life) -> list[Fact]:
        """The values, and the moments after the start. The end of the play cuts one turn more from one side."""
        mine, theirs = self.before(life.backs_off), other.before(others_life.backs_off)
        cut = abs(mine - theirs) <= 1 or mine < len(self.rows) or theirs < len(other.rows)
        many = min(mine, theirs) if cut else mine
        values = [value for _, value in self.rows[:many]]
        moments = [at - life.began for at, _ in self.rows[: min(many, COMPARED_MAX)] if at > life.began]
        return [Fact(f"{name}: turns", values), Fact(f"{name}: turns, after s", moments, _slack(pod))]

    def before(self, end: float) -> int:
        """The number of turns before a moment."""
        return sum(at < end for at, _ in self.rows)


def _slack(pod: str) -> float:
    spec = PODS[pod]["spec"]
    probes = [
        one[kind]
        for one in [*spec.get("initContainers", []), *spec["containers"]]
        for kind in ("readinessProbe", "livenessProbe", "startupProbe")
        if kind in one
    ]
    return max([TURN_SECONDS, *(float(probe.get("periodSeconds", 10)) + BEGIN_SECONDS for probe in probes)])
