"""One answer of the restart decision."""

from collections.abc import Hashable
from dataclasses import dataclass

from probelet.beside.guard.restart.protocol.reason import Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a restart does not happen now, and when to ask again."""

    reason: Reason
    message: str
    gate: Hashable = None
    """The thing whose change may let it pass; None: only a change of the pod or its probes."""
    until_ns: int | None = None
    """When to ask again in any case."""
