"""Kills that wait while a restart cannot help. Rules

 1. A verdict of a liveness probe waits if its pod belongs to an open incident of a kind that the choice names: with
    ``prober`` only where the prober itself was late, with ``shared`` also where several workloads share something.
 2. The first verdict of an incident goes on: it is the trial. While the trial's container has not answered, the others
    of the incident wait.
 3. Once it has answered, restarts help, and no verdict of the incident waits any more.
 4. No verdict waits longer than ``most_ms`` after the first one of its incident that waited.

A verdict that waits is not kept: the probe begins anew, and either recovers or comes to a verdict again.
"""

from dataclasses import dataclass
from typing import Final, Literal

from probelet.policy.incidents.outputs import Incident, Kind
from probelet.policy.incidents.turn import Turn

Choice = Literal["off", "prober", "shared"]

KINDS: Final[dict[Choice, frozenset[Kind]]] = {
    "off": frozenset(),
    "prober": frozenset({"prober"}),
    "shared": frozenset({"prober", "shared"}),
}
MOST_MS: Final = 300_000
"""How long a verdict may wait by default."""
KEPT_MAX: Final = 1_000
"""Incidents that are remembered; the oldest are forgotten."""


@dataclass(slots=True)
class _Group:
    """The verdicts of one incident."""

    trial: tuple[str, str]
    """The pod's UID and the container that was restarted first."""
    since_ms: int
    """When the trial was killed."""
    has_answered: bool = False


class KillHold:
    """Decides which verdicts wait. ``choice`` is ``off``, ``prober`` or ``shared``."""

    def __init__(self, choice: Choice = "off", most_ms: int = MOST_MS) -> None:
        self._kinds = KINDS[choice]
        self._most_ms = most_ms
        self._groups: dict[str, _Group] = {}
        self._trials: dict[tuple[str, str], str] = {}
        self.waited = 0
        """Verdicts that waited so far."""

    def waits(self, now_ms: int, incident: Incident | None, pod_uid: str, container: str) -> bool:
        """Whether a verdict of a liveness probe waits; ``incident`` is the open one that its pod belongs to."""
        if incident is None or incident.kind not in self._kinds:
            return False
        group = self._groups.get(incident.id)
        if group is None:
            self._remember(incident.id, _Group((pod_uid, container), now_ms))
            return False
        # A clock that was set back must not make a verdict wait for longer.
        is_over = not 0 <= now_ms - group.since_ms < self._most_ms
        if group.has_answered or is_over:
            return False
        self.waited += 1
        return True

    def attempt(self, turn: Turn) -> None:
        """Take an attempt: a trial that answers after its restart lets the others follow."""
        name = self._trials.get((turn.pod_uid, turn.container))
        if name is None or not turn.is_good or turn.probe_type == "startup":
            return
        group = self._groups[name]
        if turn.at_ms > group.since_ms and turn.probe_type == "liveness":
            group.has_answered = True

    def _remember(self, name: str, group: _Group) -> None:
        self._groups[name] = group
        self._trials[group.trial] = name
        while len(self._groups) > KEPT_MAX:
            oldest = next(iter(self._groups))
            self._trials.pop(self._groups.pop(oldest).trial, None)
