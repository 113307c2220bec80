"""The detector of incidents of a process: tells it what happens, lets its time pass, and keeps what it finds.

The parts of the process tell of their pods and containers; turns come from the engine's batches. All of it is on the
event loop. Everything that is kept is bounded: the detector bounds the open incidents.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Final, Literal, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.base.exposition.timestamp import rfc3339
from probelet.host.batches import BatchReader
from probelet.host.incidents.document import held_document, incident_document, render_held, render_incidents
from probelet.policy.incidents import (
    Began,
    Ended,
    Exited,
    Incident,
    IncidentDetector,
    Input,
    Killed,
    Kind,
    Output,
    Passed,
    ProbeGone,
    ProbeKnown,
    Reclassified,
    RolledOut,
    Subject,
    Turn,
)
from probelet.policy.node.kill_gate import NO_HOLD, HoldOptions, KillGate
from probelet.server.document.incident import IncidentsDocument, NumberedChange
from probelet.server.document.status import HeldDocument, StatusHead
from probelet.spec.text.duration import MILLISECOND

ENDED_MAX: Final = 100
"""Incidents that are over and still shown: a bad week of a node."""

SHOWN_MAX: Final = 10
"""Open incidents in a status document."""

CHANGES_MAX: Final = 1_000
"""Changes that wait for followers, who read five times a second."""

TURNS_OF_A_RUN: Final = 10
"""The bad attempts in a row that the engine tells of (``probelet_play::history::TURNS_OF_A_RUN``); the detector waits
for no more of them."""

Change: TypeAlias = Literal["began", "grew", "reclassified", "ended"]


class Deadlines(Protocol):
    """The clock of the watch; ``host.timers.Timers`` is one."""

    def now(self) -> int:
        """Monotonic nanoseconds."""

    def wall_ns(self) -> int:
        """Unix nanoseconds."""

    def arm(self, deadline_ns: int, fire: Callable[[], None]) -> int:
        """Calls ``fire`` at ``deadline_ns``; returns the token for ``cancel``."""

    def cancel(self, token: int) -> None:
        """Forgets a deadline."""


class _Pod(msgspec.Struct, frozen=True):
    name: str
    """``namespace/name``."""
    workload: str
    """``namespace/Kind/name``; empty for a pod that nothing manages."""
    revision: str
    subjects: tuple[Subject, ...]


class IncidentWatch:
    """``begin`` once, before the first pod; without it nothing is noticed, and every call returns at once."""

    def __init__(self, timers: Deadlines, node: str) -> None:
        self.is_on = False
        self.listeners: list[Callable[[Output], None]] = []
        """Called with everything that the detector puts out."""
        self._timers = timers
        self._node = node
        self._detector = IncidentDetector()
        self._pods: dict[str, _Pod] = {}
        self._uids: dict[str, str] = {}
        self._revisions: dict[str, Counter[str]] = {}
        self._timer: int | None = None
        self._due_ms: int | None = None
        self._counts: Counter[Kind] = Counter()
        self._kinds: dict[str, Kind] = {}
        self._ended: deque[Incident] = deque(maxlen=ENDED_MAX)
        self._changes: deque[NumberedChange] = deque(maxlen=CHANGES_MAX)
        self._seq = 0
        self.kill_gate: KillGate | None = None
        """Holds liveness kills; None before ``begin``, and where no engine's probes are watched."""

    def begin(self, batches: BatchReader | None = None, hold: HoldOptions = NO_HOLD) -> None:
        """From now on incidents are noticed, among the attempts of an engine if ``batches`` are given. Only then may
        liveness kills wait for their end, as ``hold`` and pods say."""
        self.is_on = True
        if batches is not None:
            self.kill_gate = KillGate(self._detector.striking, hold)
            batches.watch_turns(self.take_turns)

    # What happens.

    def know(self, subjects: Iterable[Subject], revision: str = "") -> None:
        """There is a pod with these probes, or they are others than before. ``revision`` is the version of the pod's
        template, if it is known: the first pod of another version is a rollout."""
        found = tuple(replace(each, failure_threshold=min(each.failure_threshold, TURNS_OF_A_RUN)) for each in subjects)
        if not self.is_on or not found:
            return
        first = found[0]
        name = f"{first.namespace}/{first.pod}"
        pod = _Pod(name, f"{first.namespace}/{first.workload}" if first.workload else "", revision, found)
        before = self._pods.get(first.pod_uid)
        if before == pod:
            return
        versions = self._revisions.get(pod.workload)
        if revision and versions and revision not in versions:
            self._give(RolledOut(first.namespace, first.workload, first.image))
        self._drop(first.pod_uid)
        self._pods[first.pod_uid], self._uids[name] = pod, first.pod_uid
        if pod.workload:
            self._revisions.setdefault(pod.workload, Counter())[revision] += 1
        self._give(*map(ProbeKnown, found))

    def forget(self, uid: str) -> None:
        """A pod ends, or the process no longer probes it; does nothing for one that is not known."""
        if self.kill_gate is not None:
            self.kill_gate.gone(uid)
        self._drop(uid)

    def _drop(self, uid: str) -> None:
        pod = self._pods.pop(uid, None)
        if pod is None:
            return
        if self._uids.get(pod.name) == uid:
            del self._uids[pod.name]
        if pod.workload:
            versions = self._revisions[pod.workload]
            versions[pod.revision] -= 1
            if not versions[pod.revision]:
                del versions[pod.revision]
            if not versions:
                del self._revisions[pod.workload]
        self._give(*(ProbeGone(subject.key) for subject in pod.subjects))

    def take_turns(self, turns: list[Turn]) -> None:
        """Attempts ended."""
        self._give(*turns)
        if self.kill_gate is not None:
            for turn in turns:
                self.kill_gate.attempt(turn)

    def killed(self, uid: str, container: str) -> None:
        """A probe's verdict has a container killed."""
        if uid in self._pods:
            self._give(Killed(uid, container, self._now()))

    def exited(self, uid: str, container: str) -> None:
        """A container ended by itself."""
        if uid in self._pods:
            self._give(Exited(uid, container, self._now()))

    # What is found.

    @property
    def open(self) -> list[Incident]:
        """The open incidents, oldest first."""
        return self._detector.open

    def striking(self, uid: str) -> Incident | None:
        """The open incident that a pod belongs to, while most of it still fails; None without one."""
        return self._detector.striking(uid)

    def uid_of(self, full_name: str) -> str:
        """The UID of a pod, by its ``namespace/name``; empty for one that is not known."""
        return self._uids.get(full_name, "")

    def document(self) -> IncidentsDocument:
        """The open incidents, and the newest incidents that are over."""
        return {
            "schema": "probelet-incidents/1",
            "as_of": rfc3339(self._now()),
            "node": self._node,
            "open": list(map(incident_document, self.open)),
            "ended": list(map(incident_document, self._ended)),
        }

    def tell(self, head: StatusHead) -> None:
        """Puts the open incidents into the head of a status document."""
        if self.is_on:
            found = self.open
            head["incidents"] = list(map(incident_document, found[:SHOWN_MAX]))
            head["incidents_total"] = len(found)

    def changes(self, since: int) -> list[NumberedChange]:
        """The kept changes with ``seq > since``, oldest first."""
        found = []
        for change in reversed(self._changes):
            if change["seq"] <= since:
                break
            found.append(change)
        found.reverse()
        return found

    @property
    def last_change(self) -> int:
        """The ``seq`` of the newest change."""
        return self._seq

    def metrics(self) -> bytes:
        """The series of the page ``/metrics``; nothing where nobody watches."""
        if not self.is_on:
            return b""
        held = b"" if self.kill_gate is None else render_held(self.kill_gate)
        return render_incidents(self._counts, self.open) + held

    def held(self, uid: str) -> dict[str, HeldDocument]:
        """The kills of a pod that wait, by container."""
        if self.kill_gate is None:
            return {}
        now_ns, now_ms = self._timers.now(), self._now()

        def wall(at_ns: int) -> str:
            return rfc3339(now_ms + (at_ns - now_ns) // MILLISECOND)

        return {held.container: held_document(held, wall) for held in self.kill_gate.of_pod(uid)}

    # Time.

    def _now(self) -> int:
        return self._timers.wall_ns() // MILLISECOND

    def _give(self, *given: Input) -> None:
        if not self.is_on:
            return
        now = self._now()
        for each in given:
            for output in self._detector.handle(now, each):
                self._take(output, now)
        self._arm(now)

    def _arm(self, now: int) -> None:
        due = self._detector.next_deadline_ms
        if due == self._due_ms and self._timer is not None:
            return
        if self._timer is not None:
            self._timers.cancel(self._timer)
            self._timer = None
        self._due_ms = due
        if due is not None:
            self._timer = self._timers.arm(self._timers.now() + max(0, due - now) * MILLISECOND, self._pass)

    def _pass(self) -> None:
        self._timer = None
        self._give(Passed())

    def _take(self, output: Output, now: int) -> None:
        incident = output.incident
        if self._kinds.get(incident.id) != incident.kind:
            self._counts[incident.kind] += 1
        self._kinds[incident.id] = incident.kind
        if isinstance(output, Ended):
            del self._kinds[incident.id]
            self._ended.appendleft(incident)
            if self.kill_gate is not None:
                self.kill_gate.over(incident.id)
        self._seq += 1
        self._changes.append(
            {
                "schema": "probelet-incident/1",
                "at": rfc3339(now),
                "change": _change(output),
                "incident": incident_document(incident),
                "seq": self._seq,
            }
        )
        for listener in self.listeners:
            listener(output)


def _change(output: Output) -> Change:
    match output:
        case Began():
            return "began"
        case Reclassified():
            return "reclassified"
        case Ended():
            return "ended"
        case _:
            return "grew"
