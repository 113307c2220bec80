"""A container that may not be started yet, and why."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Wait:
    """It may be tried again at ``due_ns``; ``delay_ns`` is the stored delay, 0 if it waits for the restart budget.

    ``what`` says whether its restart waits or the pull of its image.
    """

    due_ns: int
    delay_ns: int
    what: Literal["restart", "pull"] = "restart"
