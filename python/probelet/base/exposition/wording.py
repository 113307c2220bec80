"""The wording of an Unhealthy event: the kubelet's, or with the count of failures in a row (kubernetes#115823)."""

from typing import Literal, Protocol, TypeAlias

EventWording: TypeAlias = Literal["kubelet", "counted"]


class ProbeEvent(Protocol):
    """The part of an ``EventRecord`` with words."""

    @property
    def message(self) -> str: ...
    @property
    def streak(self) -> tuple[int, int] | None: ...


def counted(event: ProbeEvent) -> str:
    """``Liveness probe failed (2 of 3): ...``; empty for an event that is not about a counted failure."""
    if event.streak is None:
        return ""
    failures, threshold = event.streak
    # The first colon is the kubelet's own; the container's output comes after it.
    what, _, said = event.message.partition(": ")
    return f"{what} ({failures} of {threshold}): {said}"
