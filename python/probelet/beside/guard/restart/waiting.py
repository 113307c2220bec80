"""Failed pods that a check refused: what each waits for."""

from collections import defaultdict
from collections.abc import Hashable

from probelet._rust import TimerWheel


class Waiting:
    """Pods that wait at a gate, until a moment, or for both.

    A gate is whatever refused them, such as a budget or a workload's limit. They stand there in order; one that is
    refused again keeps its place.
    """

    def __init__(self) -> None:
        self._gates: defaultdict[Hashable, dict[str, None]] = defaultdict(dict)
        self._at: dict[str, tuple[Hashable, int | None]] = {}
        self._timers: dict[str, tuple[int, int]] = {}
        self._wheel = TimerWheel()
        self._uids: dict[int, str] = {}
        self._numbers = 0

    def put(self, uid: str, gate: Hashable, until_ns: int | None) -> None:
        """A pod waits. ``gate`` None: no change of another object lets it on; ``until_ns`` None: no time does."""
        before = self._at.get(uid)
        if before is not None and before[0] != gate:
            self._leave_gate(uid, before[0])
        self._stop_timer(uid)
        self._at[uid] = (gate, until_ns)
        if gate is not None:
            self._gates[gate].setdefault(uid)
        if until_ns is not None:
            self._numbers += 1
            self._uids[self._numbers] = uid
            self._timers[uid] = (self._wheel.arm(until_ns, self._numbers), self._numbers)

    def drop(self, uid: str) -> None:
        """A pod does not wait any more."""
        before = self._at.pop(uid, None)
        if before is not None:
            self._leave_gate(uid, before[0])
            self._stop_timer(uid)

    def at(self, gate: Hashable) -> list[str]:
        """The pods at a gate, in their order."""
        return list(self._gates.get(gate, ()))

    def due(self, now: int) -> list[str]:
        """The pods whose moment has come, in its order."""
        found = []
        for number in self._wheel.fire(now):
            uid = self._uids.pop(number)
            del self._timers[uid]
            found.append(uid)
        return found

    def deadline(self) -> int | None:
        """The next moment; None if every pod waits for a change."""
        return self._wheel.next_deadline()

    def _leave_gate(self, uid: str, gate: Hashable) -> None:
        if gate is not None:
            self._gates[gate].pop(uid, None)
            if not self._gates[gate]:
                del self._gates[gate]

    def _stop_timer(self, uid: str) -> None:
        timer = self._timers.pop(uid, None)
        if timer is not None:
            self._wheel.cancel(timer[0])
            del self._uids[timer[1]]
