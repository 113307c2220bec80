"""Liveness kills of a cluster that wait while an incident is open that a restart does not mend."""

from operator import itemgetter

from probelet.policy.incidents import IncidentDetector, Passed, Turn
from probelet.policy.incidents.hold import Choice, KillHold
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.cluster.incidents import inputs
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.state import ClusterState


class HeldKills:
    """Follows the incidents of a cluster as far as verdicts ask for it."""

    def __init__(self, state: ClusterState, choice: Choice, most_ns: int) -> None:
        self._state = state
        self._hold = KillHold(choice, most_ns // MILLISECOND)
        self._detector = IncidentDetector()
        self._told_ms = -1

    @property
    def waited(self) -> int:
        """The verdicts that waited so far."""
        return self._hold.waited

    def waits(self, pod: ClusterPod, container: str, at_ms: int) -> bool:
        """Whether a verdict of a liveness probe waits. Verdicts come in order."""
        self._catch_up(at_ms)
        return self._hold.waits(at_ms, self._detector.incident_of(pod.uid), pod.uid, container)

    def _catch_up(self, now_ms: int) -> None:
        """Give the detector what has happened since the last verdict."""
        if now_ms <= self._told_ms:
            return
        news = [each for each in inputs(self._state) if self._told_ms < each[0] <= now_ms]
        self._told_ms = now_ms
        for at, given in [*sorted(news, key=itemgetter(0)), (now_ms, Passed())]:
            while (due := self._detector.next_deadline_ms) is not None and due < at:
                self._detector.handle(due, Passed())
            self._detector.handle(at, given)
            if isinstance(given, Turn):
                self._hold.attempt(given)
