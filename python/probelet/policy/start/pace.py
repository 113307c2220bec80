"""How often one pod may have the same thing done, whatever its runtime reports about it.

Crash-loop back-off judges the exits that a runtime reports. A runtime that lists nothing of what it was asked to make,
or exits of long ago, would get it again at once and without end. A kubelet cannot do that: it learns of a change from a
list, one a second (``genericPlegRelistPeriod``, 1.36). Here a change may come at any moment, so each thing has a bucket
instead: an honest runtime never empties it, because every second restart of a container waits for its back-off.
"""

from collections import defaultdict
from typing import Final

from probelet._rust import TokenBucket
from probelet.spec.text.duration import SECOND

BURST: Final = 10
"""How often the same thing is done at once."""

INTERVAL_NS: Final = SECOND
"""Then once in this time."""

NEW_SANDBOX: Final = "new sandbox"


def start_of(container: str) -> str:
    """The start of a container."""
    return f"start {container}"


def kill_of(container: str) -> str:
    """The kill of a container that is to be replaced."""
    return f"kill {container}"


class Pace:
    """The buckets of one pod. ``now`` is in nanoseconds and never goes back."""

    def __init__(self) -> None:
        self.due_ns: int | None = None
        """When the first of the things may be done that were put off since ``begin``; None if there are none."""
        self._buckets: defaultdict[str, TokenBucket] = defaultdict(
            lambda: TokenBucket(burst=BURST, interval_ns=INTERVAL_NS)
        )

    def begin(self) -> None:
        """A sync begins."""
        self.due_ns = None

    def allows(self, what: str, now: int) -> bool:
        """Whether this may be done now; if not, it is put off."""
        due = self._buckets[what].due(now)
        if due == now:
            return True
        self.due_ns = due if self.due_ns is None else min(self.due_ns, due)
        return False

    def record(self, what: str, now: int) -> None:
        """This is done now."""
        self._buckets[what].reserve(now)
