"""Where the restarts of a container that never succeeds end: the longest delay that it waits, again and again.

A sync that kills a container judges its restart by the exit before (``policy/node/restart_gate.py``: ``decide``). So
the first exit is never judged; a life that outlasts the rest of a delay waits nothing; any other waits the whole delay
from its own end. At the plateau every second restart is immediate, because the delay before it counts too.
"""

from typing import Final, NamedTuple

from probelet.lab.explain.span import Span
from probelet.spec.text.duration import SECOND

RESTARTS: Final = 16
"""The delay doubles from 10 s to 300 s in six starts; it has stopped growing long before this restart."""


class CrashLoop(NamedTuple):
    """The plateau: ``plateau_seconds`` before every second restart from ``after_restarts`` on, 0 if none ever waits."""

    plateau_seconds: int
    after_restarts: int
    """The first restart that may wait so long; restart 1 is the second start."""
    reached: Span
    """The end of the life before that wait, in seconds from the first start on."""


def crash_loop(life: Span) -> CrashLoop:
    """The plateau of a container whose every life, ended by a probe, lasts as long as ``life`` says.

    The node has the kubelet's default curve, and each restart comes when it is due. A container that may live longer
    than the longest delay never waits it if it always does; ``reached`` is for shorter lives.
    """
    # The linter takes the bounds of this package alone and has to start quickly.
    from probelet.lab.backoff import TODAY, restarts

    delays = [0, *(restart.delay_ns // SECOND for restart in restarts(TODAY, count=RESTARTS))]
    plateau = delays[-1]
    if life.earliest >= plateau:
        return CrashLoop(0, 1, life)
    restart, earliest, latest = _reach(delays, life.earliest, min(life.latest, plateau - 1))
    typical = min(life.typical, plateau - 1)
    return CrashLoop(plateau, restart, Span(int(earliest), _reach(delays, typical, typical)[1], int(latest)))


def _reach(delays: list[int], shortest: float, longest: float) -> tuple[int, float, float]:
    """The first restart that may wait the longest delay, and the least and the most time until such a wait."""
    found: list[tuple[int, float, float]] = []
    # The wait before a life -> when that life may have begun.
    begun: dict[int, list[float]] = {0: [0]}
    for restart, delay in enumerate(delays, start=1):
        following: dict[int, list[float]] = {}
        for waited, times in begun.items():
            least, most, rest = min(times), max(times), delay - waited
            if shortest < rest:
                ended = least + shortest, most + min(longest, rest)
                if delay == delays[-1]:
                    found.append((restart, *ended))
                else:
                    following.setdefault(delay, []).extend(end + delay for end in ended)
            if longest >= rest:
                following.setdefault(0, []).extend((least + max(shortest, rest), most + longest))
        begun = following
    return min(found)[0], min(least for _, least, _ in found), max(most for _, _, most in found)
