"""How far a request is by its executor's own knowledge, which its status in the API follows."""

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from probelet.beside.guard.objects.recreate_request import (
    COMPLETED,
    ENDED,
    FAILED,
    PENDING,
    RECREATING,
    RecreateRequest,
    RecreateState,
)

ORDER: Final = (COMPLETED, RECREATING, PENDING, "")
"""Phases in the order in which requests for one pod are taken up."""


class Progress(msgspec.Struct, frozen=True):
    """``status`` without the completion time."""

    phase: str = ""
    states: tuple[RecreateState, ...] = ()
    message: str = ""

    @classmethod
    def of(cls, request: RecreateRequest) -> "Progress":
        """Returns the progress that the API server has."""
        return cls(request.phase, request.states)

    @property
    def is_completed(self) -> bool:
        """Whether the executor has finished the request."""
        return self.phase == COMPLETED

    @property
    def has_succeeded(self) -> bool:
        """Whether every container was recreated."""
        return self.is_completed and bool(self.states) and all(each.phase != FAILED for each in self.states)

    def state(self, container: str) -> RecreateState | None:
        """How far a container is."""
        return next((each for each in self.states if each.name == container), None)


def given_up(states: tuple[RecreateState, ...]) -> tuple[RecreateState, ...]:
    """The states once nobody goes on: what has not ended has failed, so nobody waits for it (C-2)."""
    return tuple(each if each.phase in ENDED else replace(each, phase=FAILED) for each in states)


def listed(states: tuple[RecreateState, ...]) -> Any:
    """The states as JSON data."""
    return [msgspec.to_builtins(each) for each in states]
