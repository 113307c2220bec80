"""How an Unhealthy event is worded: as the kubelet does, or with how far the failures have come (kubernetes#115823)."""

from typing import Literal, TypeAlias

from probelet._rust import EventRecord

EventWording: TypeAlias = Literal["kubelet", "counted"]


def counted(event: EventRecord) -> str:
    """``Liveness probe failed (2 of 3): ...``; empty for an event that tells of no counted failure."""
    if event.streak is None:
        return ""
    failures, threshold = event.streak
    # The first colon is the kubelet's own; whatever the container said comes after it.
    what, _, said = event.message.partition(": ")
    return f"{what} ({failures} of {threshold}): {said}"
