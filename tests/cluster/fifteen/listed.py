"""The rows of docs/agent.md that the comparison meets, by their anchors, and what exactly each explains."""

from typing import Any

from tests.kubelet.beside.verdict.forget import LATE, MORE, MORE_MAX, NOTHING, Pair, alike_without, are_rests, if_true
from tests.kubelet.beside.verdict.listed import Listed


def wakes(kubelet: Any, probelet: Any, pace: float) -> Pair:
    """Waits in back-off: the kubelet of both sides is one, and each of its waits may end up to half a delay late."""
    more = min(MORE_MAX, MORE * pace)
    both = isinstance(kubelet, list) and isinstance(probelet, list)
    is_late = both and all(are_rests(waits, LATE, more) for waits in (kubelet, probelet))
    return NOTHING if is_late else (kubelet, probelet)


LISTED = (
    # The kubelet beside itself.
    Listed("late-wake", "containers", r"\S+: restarts, after s", wakes),
    Listed("waiting-shown", "status", r"\S+: waiting", if_true(alike_without(r"restarts=\d+|back-off \w+"))),
)
