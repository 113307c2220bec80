"""Ways in which two values may differ. Each returns what is left of both values without that difference."""

import re
from collections.abc import Callable
from typing import Any

Pair = tuple[Any, Any]
Forget = Callable[[Any, Any, float], Pair]
"""Of the kubelet's value, probelet's, and the pace of the machine."""
NOTHING: Pair = (None, None)

LATE, MORE, MORE_MAX = 1.5, 2.5, 8.0
DELAYS = (0.0, 10.0, 20.0, 40.0, 80.0, 160.0)
"""The latest wake as a share of its delay, and the seconds that a start takes; the delays of the default."""


def anything(kubelet: Any, probelet: Any, pace: float) -> Pair:
    return NOTHING


def only_kubelet(pattern: str) -> Forget:
    """Items of a list that only the kubelet's has."""
    return lambda kubelet, probelet, pace: (_without(kubelet, probelet, pattern), probelet)


def only_probelet(pattern: str) -> Forget:
    """Items of a list that only probelet's has."""
    return lambda kubelet, probelet, pace: (kubelet, _without(probelet, kubelet, pattern))


def replaced(pattern: str, text: str = "") -> Forget:
    """A text that the kubelet writes otherwise, in each item of a list or in a single text."""

    def forget(kubelet: Any, probelet: Any, pace: float) -> Pair:
        if isinstance(kubelet, list):
            return sorted({re.sub(pattern, text, str(item)) for item in kubelet}), probelet
        return re.sub(pattern, text, str(kubelet)), probelet

    return forget


def without(pattern: str) -> Forget:
    """Items of a list that are alike apart from what the pattern matches."""

    def cut(value: Any) -> Any:
        return [re.sub(pattern, "", str(item)) for item in value] if isinstance(value, list) else value

    return lambda kubelet, probelet, pace: (cut(kubelet), cut(probelet))


def if_true(judge: Callable[[Any, Any], bool]) -> Forget:
    """Any difference about which ``judge`` is true."""
    return lambda kubelet, probelet, pace: NOTHING if judge(kubelet, probelet) else (kubelet, probelet)


def later(side: str, seconds_max: float) -> Forget:
    """Moments of which one side's are later, each by up to so many seconds."""

    def forget(kubelet: Any, probelet: Any, pace: float) -> Pair:
        late, early = (kubelet, probelet) if side == "kubelet" else (probelet, kubelet)
        late, early = (value if isinstance(value, list) else [value] for value in (late, early))
        numbers = len(late) == len(early) and None not in [*late, *early]
        is_late = numbers and all(-0.3 <= a - b <= seconds_max * pace for a, b in zip(late, early, strict=True))
        return NOTHING if is_late else (kubelet, probelet)

    return forget


def first_later(seconds_max: float) -> Forget:
    """Moments of which probelet's first is later, by up to so many seconds beside the slack."""

    def forget(kubelet: Any, probelet: Any, pace: float) -> Pair:
        if not kubelet or not probelet:
            return kubelet, probelet
        late = min(max(0.0, probelet[0] - kubelet[0]), seconds_max * pace)
        return kubelet, [probelet[0] - late, *probelet[1:]]

    return forget


def later_wakes(*, exact: bool) -> Forget:
    """Waits in back-off of which the kubelet's end late, by up to half: it looks at a container again only then.

    With ``exact`` each wait of one side has its match. Without, a probe killed the container: two restarts are free,
    and a wait is what its life left of the delay, so that a late wake changes the waits that follow.
    """

    def forget(kubelet: Any, probelet: Any, pace: float) -> Pair:
        if not isinstance(kubelet, list) or not isinstance(probelet, list):
            return kubelet, probelet
        more = min(MORE_MAX, MORE * pace)
        if exact:
            pairs = zip(kubelet, probelet, strict=False)
            listed = all(-more <= a - b <= b * (LATE - 1) + more for a, b in pairs)
            listed = listed and all(_is_delay(wait, more) for wait in probelet)
        else:
            listed = are_rests(kubelet, LATE, more) and are_rests(probelet, 1.0, more)
        return NOTHING if listed else (kubelet, probelet)

    return forget


def _is_delay(wait: float, more: float) -> bool:
    """Whether a wait is one of the delays."""
    return any(delay - 0.5 <= wait <= delay + more for delay in DELAYS)


def are_rests(waits: list[float], factor: float, more: float) -> bool:
    """Whether each wait is at most ``factor`` times its delay: none for the first two, then doubling."""
    return all(wait <= delay * factor + more for wait, delay in zip(waits, (0.0, *DELAYS), strict=False))


def alike_without(pattern: str) -> Callable[[Any, Any], bool]:
    """Whether one list has only items of the other, apart from what the pattern matches."""

    def judge(kubelet: Any, probelet: Any) -> bool:
        mine, theirs = ({re.sub(pattern, "", str(item)) for item in value or []} for value in (kubelet, probelet))
        return mine <= theirs or theirs <= mine

    return judge


def same_end(kubelet: Any, probelet: Any) -> bool:
    """Whether both lists end alike, though more turns come before on one side."""
    return bool(kubelet and probelet and kubelet[-1] == probelet[-1])


def _without(mine: Any, theirs: Any, pattern: str) -> Any:
    if not isinstance(mine, list):
        return mine
    known = theirs if isinstance(theirs, list) else []
    return [item for item in mine if item in known or not re.search(pattern, str(item))]
