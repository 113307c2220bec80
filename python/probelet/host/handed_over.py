"""The pods that other node agents hand over to be probed by the node's engine, as the node sees them."""

from typing import Protocol

from probelet._rust import EventRecord, ExecRun, Update


class HandedOver(Protocol):
    """Takes its part of each batch of the engine; the node takes the rest."""

    @property
    def pods(self) -> int: ...
    def owns(self, uid: str) -> bool: ...
    def sift(
        self, events: list[EventRecord], updates: list[Update], execs: list[ExecRun]
    ) -> tuple[list[EventRecord], list[Update], list[ExecRun]]: ...
