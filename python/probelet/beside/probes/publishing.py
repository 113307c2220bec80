"""When the status is written (D-8, D-9): a pure schedule of all states of a node."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from probelet.beside.guard.objects.node_probes import FAILED_BEAT_NS
from probelet.beside.probes.report import Report
from probelet.beside.probes.wanted import Key
from probelet.spec.text.duration import SECOND

GATHER_NS: Final = SECOND
"""How long the first change waits for others, so that one write has all of them; OpenKruise's own waits are as long."""
MESSAGE_NS: Final = 30 * SECOND
"""The shortest time between two writes of one state because of its message alone, where that says why there is no
result, or that the last attempt failed no more."""
FIRST_NS: Final = 10 * SECOND
"""How long a new probe waits for its first result before the object says that there is none: most have one by then, and
each write is a revision of the whole object."""
REMOVAL_NS: Final = 60 * SECOND
"""How long the state of a probe that is gone may stay: nobody reads it, and most nodes have other news by then."""
BEAT_NS: Final = 3_600 * SECOND
"""Any other state is written again after this time. Nothing follows from its age: the cluster asks how old failures
are, and an agent's Lease says that it lives. So this mends what another writer has lost."""
BEAT_JITTER: Final = 0.1
"""The share by which a heartbeat comes sooner or later, so that nodes that began together spread."""


@dataclass(slots=True)
class _Shown:
    """The object's state of a probe, since when on the clock, and when it is written again in any case."""

    report: Report | None
    at_ns: int
    beat_ns: int
    due_ns: int


class Publishing:
    """Which states wait for a write. ``now`` is in nanoseconds; ``chance`` returns a number from 0 to 1."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._shown: dict[Key, _Shown] = {}
        self._latest: dict[Key, Report] = {}
        """The newest state of each probe, which a write under way may not have."""
        self._failed: set[Key] = set()
        """The probes whose state is Failed now."""
        self._removal_ns: int | None = None

    def begin(self, key: Key, shown: Report | None, now: int) -> None:
        """A probe is new; the object has this state of it, or none."""
        self._note(key, shown)
        beat = now + _beat(shown, self._jitter())
        self._shown[key] = _Shown(shown, now, beat, beat)

    def forget(self, key: Key, now: int) -> None:
        """A probe is gone, and so should be its state."""
        self._failed.discard(key)
        self._latest.pop(key, None)
        if self._shown.pop(key, None) is not None and self._removal_ns is None:
            self._removal_ns = now + REMOVAL_NS

    def record(self, key: Key, report: Report, now: int) -> None:
        """A probe has this state now."""
        self._latest[key] = report
        self._note(key, report)
        shown = self._shown[key]
        old = shown.report
        if old is None or not old.is_same_state(report):
            is_first = old is None and report.state == "Unknown" and not report.message
            # A change that waits keeps its place: later ones join it, and none puts it off.
            shown.due_ns = min(shown.due_ns, now + (FIRST_NS if is_first else GATHER_NS))
        elif report.fails_now and not old.fails_now:
            # The cluster counts it where it decides about a failure of this node. The write with the first failure has
            # every state, so until then it costs none.
            shown.due_ns = min(shown.due_ns, now + GATHER_NS) if self._failed else shown.beat_ns
        elif report.message != old.message and (report.state == "Unknown" or old.fails_now):
            shown.due_ns = min(shown.beat_ns, max(shown.at_ns + MESSAGE_NS, now + GATHER_NS))
        else:
            # What a probe prints may differ in every run. It goes with the next write.
            shown.due_ns = shown.beat_ns

    def due_ns(self) -> int | None:
        """When the next write is due; None without a probe and without a state to remove."""
        moments = [shown.due_ns for shown in self._shown.values()]
        if self._removal_ns is not None:
            moments.append(self._removal_ns)
        return min(moments, default=None)

    def written(self, reports: dict[Key, Report], now: int) -> None:
        """The object has these states now."""
        self._removal_ns = None
        # One for all: the earliest of many would come a tenth too soon, always.
        jitter = self._jitter()
        for key, report in reports.items():
            if key in self._shown:
                beat = now + _beat(report, jitter)
                self._shown[key] = _Shown(report, now, beat, beat)
                # The state may have changed while the write was under way.
                self.record(key, self._latest.get(key, report), now)

    def _note(self, key: Key, report: Report | None) -> None:
        if report is not None and report.state == "Failed":
            self._failed.add(key)
        else:
            self._failed.discard(key)

    def _jitter(self) -> float:
        return 1 + BEAT_JITTER * (2 * self._chance() - 1)


def _beat(report: Report | None, jitter: float) -> int:
    if report is not None and report.fails_now:
        # An attempt that succeeds below the threshold is no news, so the state is read again soon.
        return MESSAGE_NS
    return int((FAILED_BEAT_NS if report is not None and report.state == "Failed" else BEAT_NS) * jitter)
