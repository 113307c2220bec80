"""Which liveness kills wait while an incident is open that a restart does not mend. Rules

 1. A kill waits if its pod belongs to an open incident of a kind that the pod's choice names: ``prober``, where the
    prober itself was late, or with ``shared`` also where several workloads share what is at fault.
 2. The first kill of a shared incident goes on: it is the trial. So is the first one of each other program while no
    more than a quarter of the incident's pods were restarted, because one program may start slowly. Nothing that is
    restarted mends a prober, so in its incidents there is no trial.
 3. While no trial's container has answered its liveness probe, the others wait. Once one has, they follow: at any time
    no more restarts are under way than have answered, so 1, then 2, then 4. The same holds for each program by itself,
    so that a slow one holds up no other, and its first one goes at once. A container that fails again after its restart
    takes its answer back. Half a minute after a trial, a minute after the second one, and so on, there is another one,
    because what a restart did not mend it may mend now.
 4. A container that waits is probed on. A success forgets its kill. A failure asks again by these rules: once the
    incident is over, or is of another kind, the kill goes on.
 5. No kill waits longer than ``most_ns``. Then it goes on without a fresh failure too.
 6. A kill that goes on is never called back: its grace has begun.
 7. Whatever this does not know is killed: without an incident, with a clock that goes back, after a restart of
    probelet.

A kill that ends its pod or its container for good (``restartPolicy: Never``) is no trial, because nothing would
answer. It waits by the same rules. Verdicts of startup probes are not asked about: such a container has never
answered.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import msgspec

from probelet.policy.incidents.outputs import Incident, Kind
from probelet.policy.incidents.turn import Turn
from probelet.spec.annotation.hold_kills import HoldChoice
from probelet.spec.text.duration import SECOND, format_duration

HoldEnd: TypeAlias = Literal["recovered", "killed", "gone"]
"""How the wait of a kill ended: the container answered, was killed after all, or ended or was deleted."""

TRIAL_NS: Final = 30 * SECOND
"""From the first trial of an incident to the second; twice as long to the third, and so on."""

KINDS: Final[dict[HoldChoice, frozenset[Kind]]] = {
    "off": frozenset(),
    "prober": frozenset({"prober"}),
    "shared": frozenset({"prober", "shared"}),
}
"""The kinds of incidents in which the kills of a pod wait, by its choice."""

TRIALS_SHARE: Final = 4
"""The pods of an incident for each of its first trials."""

_Key: TypeAlias = tuple[str, str]
"""A pod's UID and a container's name."""

_State: TypeAlias = Literal["pending", "answers", "fails"]


class Verdict(msgspec.Struct, frozen=True):
    """A liveness probe has failed: without a hold the container is killed."""

    pod_uid: str
    container: str
    container_id: str
    choice: HoldChoice
    restarts: bool
    """Whether the container runs again after a kill."""
    program: str = ""
    """Of ``program_of``. Containers with one program are alike: if a restart mends one, it mends the others."""


def program_of(container: str, image: str) -> str:
    """The program of a container, by its name and image."""
    return f"{container} {image}"


class Held(msgspec.Struct, frozen=True):
    """A kill that waits."""

    container: str
    container_id: str
    incident: str
    """The id."""
    what: str
    """The incident in words: ``shared target db:5432``."""
    since_ns: int
    until_ns: int
    """When it goes on at the latest."""

    @property
    def message(self) -> str:
        """The event of its beginning (ours)."""
        most = format_duration(self.until_ns - self.since_ns)
        waits = f"its kill waits for at most {most}, because a restart would not mend incident {self.incident}"
        return f"Container {self.container} failed liveness probe, {waits} ({self.what})"


@dataclass(slots=True)
class _Restart:
    """A container that was restarted, and how it has been since then."""

    program: str
    state: _State = "pending"


@dataclass(slots=True)
class _Group:
    """The restarts of one incident."""

    restarted: dict[_Key, _Restart] = field(default_factory=dict)
    trials: int = 0
    next_ns: int = 0
    """When the next trial may be, whatever became of the restarts before."""

    def has_room(self, now: int, program: str, pods: int) -> bool:
        """Whether one more restart may go on, of a program; ``pods`` are those of the incident."""
        states = Counter(each.state for each in self.restarted.values())
        own = Counter(each.state for each in self.restarted.values() if each.program == program)
        if now >= self.next_ns or states["pending"] < states["answers"]:
            return True
        if not own and len(self.restarted) * TRIALS_SHARE < pods:
            return True
        return states["answers"] > 0 and own["pending"] < max(own["answers"], not own["fails"])

    def restart(self, key: _Key, now: int, program: str) -> None:
        """A container is restarted."""
        self.restarted[key] = _Restart(program)
        if now >= self.next_ns:
            self.next_ns = now + TRIAL_NS * 2**self.trials
            self.trials += 1

    def note(self, key: _Key, state: _State) -> None:
        """A container has answered or failed; says nothing about one that was not restarted."""
        if (found := self.restarted.get(key)) is not None:
            found.state = state


class KillHold:
    """The kills of one node that wait. ``most_ns`` is the longest that any of them does."""

    def __init__(self, most_ns: int) -> None:
        self.ended: Counter[HoldEnd] = Counter()
        """How waits ended so far."""
        self._most_ns = most_ns
        self._groups: dict[str, _Group] = {}
        self._held: dict[str, dict[str, Held]] = {}
        # Instances whose kill goes on, by pod and container.
        self._going: dict[str, dict[str, str]] = {}

    def judge(self, now: int, verdict: Verdict, incident: Incident | None) -> Held | None:
        """None if the container is to be killed now; ``incident`` is the open one that its pod belongs to. A caller
        asks with each failure, and once more at the end of a wait."""
        uid, name = verdict.pod_uid, verdict.container
        if self.is_going(uid, name, verdict.container_id):
            return None
        held = self.held(uid, name)
        if held is not None and held.container_id != verdict.container_id:
            self._end(uid, name, "gone")
            held = None
        if incident is None or incident.kind not in KINDS[verdict.choice]:
            self._go(verdict)
            return None
        is_over = held is not None and not held.since_ns <= now < held.until_ns
        if is_over or self._is_next(verdict, incident, now):
            self._go(verdict)
            self._groups.setdefault(incident.id, _Group()).restart((uid, name), now, verdict.program)
            return None
        if held is None:
            held = Held(name, verdict.container_id, incident.id, incident.title, now,
                        now + self._most_ns)  # fmt: skip
            self._held.setdefault(uid, {})[name] = held
        return held

    def is_going(self, pod_uid: str, container: str, container_id: str) -> bool:
        """Whether the kill of this instance goes on, so that nothing calls it back."""
        return self._going.get(pod_uid, {}).get(container) == container_id

    def held(self, pod_uid: str, container: str) -> Held | None:
        """The container's kill, if it waits."""
        return self._held.get(pod_uid, {}).get(container)

    def of_pod(self, pod_uid: str) -> list[Held]:
        """The kills of a pod that wait."""
        return list(self._held.get(pod_uid, {}).values())

    @property
    def count(self) -> int:
        """How many kills wait."""
        return sum(map(len, self._held.values()))

    def attempt(self, turn: Turn) -> None:
        """Take an attempt: a success forgets a kill, and lets others follow if the container was restarted."""
        if not turn.is_good or turn.probe_type != "liveness":
            return
        key = turn.pod_uid, turn.container
        if self.held(*key) is not None:
            self._end(*key, "recovered")
        for group in self._groups.values():
            group.note(key, "answers")

    def over(self, incident_id: str) -> None:
        """An incident is over. What waits is asked about at its next failure."""
        self._groups.pop(incident_id, None)

    def gone(self, pod_uid: str) -> None:
        """The pod ends, or is no longer probed."""
        for name in list(self._held.get(pod_uid, {})):
            self._end(pod_uid, name, "gone")
        self._going.pop(pod_uid, None)

    def _is_next(self, verdict: Verdict, incident: Incident, now: int) -> bool:
        """Whether this kill is the trial, or its turn after one."""
        if incident.kind != "shared":
            return False
        group = self._groups.setdefault(incident.id, _Group())
        group.note((verdict.pod_uid, verdict.container), "fails")
        return verdict.restarts and group.has_room(now, verdict.program, incident.counts.pods)

    def _go(self, verdict: Verdict) -> None:
        uid, name = verdict.pod_uid, verdict.container
        held = self.held(uid, name)
        if held is not None:
            self._end(uid, name, "killed")
        self._going.setdefault(uid, {})[name] = verdict.container_id

    def _end(self, uid: str, name: str, end: HoldEnd) -> None:
        self.ended[end] += 1
        of_pod = self._held[uid]
        del of_pod[name]
        if not of_pod:
            del self._held[uid]
