"""Failed probes that no restart has followed yet: the reason that holds each, and for how long it has failed."""

from collections.abc import Mapping

from probelet.beside.guard.objects.node_probes import PodProbes
from probelet.beside.guard.restart.protocol.reason import HOLDS, Reason


class Held:
    """The latest reason of each failed probe, by the UID of its pod and by its name.

    The time is that of the failure and not of the reason: a probe whose restart meets one gate after the other has
    waited as long as one that stands at a single gate. The object has it, so a new leader begins no new time.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, dict[str, Reason]] = {}

    def decided(self, uid: str, probe: str, reason: Reason) -> None:
        """Notes a decision."""
        if reason in HOLDS:
            self._reasons.setdefault(uid, {})[probe] = reason
        elif uid in self._reasons:
            self._reasons[uid].pop(probe, None)

    def forget(self, uid: str) -> None:
        """No probe of a pod fails any more."""
        self._reasons.pop(uid, None)

    def longest(self, entries: Mapping[str, tuple[str, PodProbes]], wall_ns: int) -> dict[Reason, int]:
        """The longest time, in nanoseconds, for which a held probe has failed, by reason; 0 where a reason holds
        none. ``entries``: the probes of each pod, as in ``ObservedCluster``."""
        found: dict[Reason, int] = dict.fromkeys(HOLDS, 0)
        for uid, reasons in self._reasons.items():
            for state in entries[uid][1].probes if uid in entries else ():
                reason = reasons.get(state.name)
                if reason is not None and state.state == "Failed":
                    found[reason] = max(found[reason], wall_ns - state.since_ns)
        return found
