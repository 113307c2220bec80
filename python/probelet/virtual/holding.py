"""The incidents of one node as its agent notices them while they happen, and the kills that wait for their end."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from probelet.policy.incidents import (
    Ended,
    Exited,
    Incident,
    IncidentDetector,
    Input,
    Killed,
    Passed,
    ProbeGone,
    ProbeKnown,
    RolledOut,
    Subject,
    Turn,
)
from probelet.policy.node.kill_gate import HoldOptions, KillGate
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.agenda import Agenda


class NodeHolding:
    """A detector of incidents among the pods of one node, and the gate that asks it. A new one knows nothing, as the
    one of an agent that was restarted."""

    def __init__(self, agenda: Agenda, options: HoldOptions, on_kill: Callable[[str, str], None]) -> None:
        self.gate: Final = KillGate(self._incident_of, options, self._goes_on)
        self._agenda = agenda
        self._on_kill = on_kill
        self._detector = IncidentDetector()
        self._subjects: dict[str, tuple[Subject, ...]] = {}
        self._versions: defaultdict[str, set[int]] = defaultdict(set)
        # Containers that are being killed, so that their end is no end by itself.
        self._killed: set[tuple[str, str]] = set()

    def know(self, pod_subjects: Iterable[Subject], version: int) -> None:
        """A pod of this version of its workload is on the node."""
        found = tuple(pod_subjects)
        if not found:
            return
        first = found[0]
        versions = self._versions[f"{first.namespace}/{first.workload}"]
        if first.workload and versions and version not in versions:
            self._give(RolledOut(first.namespace, first.workload, first.image))
        versions.add(version)
        self._subjects[first.pod_uid] = found
        for subject in found:
            self._give(ProbeKnown(subject))

    def forget(self, uid: str) -> None:
        """A pod is deleted, or nothing of it is left."""
        self.gate.gone(uid)
        for subject in self._subjects.pop(uid, ()):
            self._give(ProbeGone(subject.key))

    def turn(self, turn: Turn) -> None:
        """An attempt ended, at its own time: a simulation tells of attempts when it stops."""
        self._give(turn, turn.at_ms)
        self.gate.attempt(turn)

    def killed(self, uid: str, container: str) -> None:
        """A probe's verdict has a container killed."""
        self._killed.add((uid, container))
        self._give(Killed(uid, container, self._now_ms))

    def ended(self, uid: str, container: str) -> None:
        """A container has ended."""
        if (uid, container) in self._killed:
            self._killed.remove((uid, container))
        elif uid in self._subjects:
            self._give(Exited(uid, container, self._now_ms))

    def stopped(self, uid: str, container: str) -> None:
        """A container has ended, but not by itself."""
        self._killed.discard((uid, container))

    @property
    def _now_ms(self) -> int:
        return self._agenda.now // MILLISECOND

    def _goes_on(self, uid: str, container: str) -> None:
        self.killed(uid, container)
        self._on_kill(uid, container)

    def _incident_of(self, uid: str) -> Incident | None:
        self._give(Passed())
        return self._detector.striking(uid)

    def _give(self, given: Input, at_ms: int | None = None) -> None:
        for _, output in self._detector.play(self._now_ms if at_ms is None else at_ms, given):
            if isinstance(output, Ended):
                self.gate.over(output.incident.id)
