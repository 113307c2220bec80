"""Plays one stretch of a recording with kills that wait, by the rule of ``policy.incidents.hold``. Laws

1. The detector of incidents sees what really happened: all attempts, kills and exits, also after a kill that would
   have waited.
2. How a container answers from the moment on at which its kill begins to wait, nobody knows: ``healthy`` ends the wait
   with the next attempt, ``failing`` asks again each period until the kill goes on. A kill that waits beyond the
   recording's end goes on at the last moment that its wait has.
3. A container that really began while the one before it may still wait would not have been there: it has no kill.
"""

import heapq
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Final

import msgspec

from probelet.lab.recording import Assumption, Kill, Life, RecordedTurn, Turned
from probelet.lab.whatif.holding.subjects import KnownPod
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
    Turn,
)
from probelet.policy.incidents.hold import KillHold, Verdict, program_of
from probelet.policy.node.kill_gate import HoldOptions

US_PER_MS: Final = 1_000
NS_PER_US: Final = 1_000

# What happens in one microsecond happens in this order: a verdict follows its attempt, and is judged before its
# container is killed.
_KNOWN, _TURN, _JUDGED, _KILLED, _EXITED, _GONE = range(6)


class HeldPlay:
    """A play of all pods of a stretch. ``run`` once; then ``kills`` and the rest are its outcome."""

    def __init__(self, options: HoldOptions, assume: Assumption) -> None:
        self.kills: dict[str, Kill] = {}
        """The kills that go on, by the container's ID, each when it does."""
        self.waits: dict[str, str] = {}
        """The incident of each kill that waits, in words, by the container's ID."""
        self.incidents: dict[str, Incident] = {}
        """Every incident as the detector put it out last, by id."""
        self._options = options
        self._assume = assume
        self._hold = KillHold(options.most_ns)
        self._detector = IncidentDetector()
        self._agenda: list[tuple[int, int, int, Callable[[], None]]] = []
        self._number = count()
        self._now_us = 0
        self._revisions: dict[str, set[str]] = {}
        # Until when another container in the place of one whose kill waits would not have been there, by its pod's UID
        # and its name; None while it still waits.
        self._alone_until: dict[tuple[str, str], int | None] = {}

    def add(self, known: KnownPod, turned: Turned, kills: Iterable[Kill]) -> None:
        """A pod of the stretch, with the kills that a play without waits has."""
        pod = known.pod
        lives = {life.container_id: life for life in pod.lives}
        self._at(pod.from_us, _KNOWN, partial(self._know, known))
        for turn in turned.turns:
            self._at(turn.at_us, _TURN, partial(self._turn, pod.uid, turn))
        for kill in kills:
            self._at(kill.at_us, _JUDGED, partial(self._judge, known, lives[kill.container_id], kill))
        killed = {kill.container_id for kill in pod.kills}
        for kill in pod.kills:
            name = lives[kill.container_id].container
            self._at(kill.at_us, _KILLED, partial(self._tell, Killed, pod.uid, name))
        for life in pod.lives:
            ends = life.ended_us is not None and (turned.gone_us is None or life.ended_us < turned.gone_us)
            if ends and life.exit_code and life.container_id not in killed:
                assert life.ended_us is not None
                self._at(life.ended_us, _EXITED, partial(self._tell, Exited, pod.uid, life.container))
        if turned.gone_us is not None:
            self._at(turned.gone_us, _GONE, partial(self._gone, known))

    def run(self) -> None:
        """Plays everything."""
        while self._agenda:
            self._now_us, _, _, happen = heapq.heappop(self._agenda)
            happen()

    def _at(self, at_us: int, rank: int, happen: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (at_us, rank, next(self._number), happen))

    # What really happened.

    def _know(self, known: KnownPod) -> None:
        if not known.subjects:
            return
        first = known.subjects[0]
        versions = self._revisions.setdefault(f"{first.namespace}/{first.workload}", set())
        if known.revision and versions and known.revision not in versions:
            self._give(RolledOut(first.namespace, first.workload, first.image))
        versions.add(known.revision)
        for subject in known.subjects:
            self._give(ProbeKnown(subject))

    def _gone(self, known: KnownPod) -> None:
        self._hold.gone(known.pod.uid)
        for subject in known.subjects:
            self._give(ProbeGone(subject.key))

    def _turn(self, uid: str, turn: RecordedTurn) -> None:
        at_ms, late_ms = turn.at_us // US_PER_MS, turn.late_us / US_PER_MS
        told = Turn(uid, turn.container, turn.type, at_ms, turn.is_good, turn.cause, late_ms, 0.0, "")
        self._give(told)
        if (uid, turn.container) not in self._alone_until:
            self._hold.attempt(told)

    def _tell(self, input: type[Killed | Exited], uid: str, container: str) -> None:
        self._give(input(uid, container, self._now_us // US_PER_MS))

    def _give(self, given: Input) -> None:
        for _, output in self._detector.play(self._now_us // US_PER_MS, given):
            incident = output.incident
            self.incidents[incident.id] = incident
            if isinstance(output, Ended):
                self._hold.over(incident.id)

    # What would have happened.

    def _judge(self, known: KnownPod, life: Life, kill: Kill) -> None:
        uid, name = known.pod.uid, life.container
        if (uid, name) in self._alone_until:
            until_us = self._alone_until[uid, name]
            if until_us is None or (life.ran_us or 0) < until_us:
                return
            del self._alone_until[uid, name]
        if kill.type != "liveness":
            self.kills[kill.container_id] = kill
            return
        self._ask(known, life, kill)

    def _ask(self, known: KnownPod, life: Life, kill: Kill) -> None:
        """Asks whether a kill goes on now."""
        uid, name = known.pod.uid, life.container
        self._give(Passed())
        choice = self._options.choice if known.choice is None else known.choice
        image = next((subject.image for subject in known.subjects if subject.container == name), "")
        verdict = Verdict(uid, name, life.container_id, choice, restarts=True, program=program_of(name, image))
        held = self._hold.judge(self._now_us * NS_PER_US, verdict, self._detector.striking(uid))
        if held is None:
            self.kills[kill.container_id] = msgspec.structs.replace(kill, at_us=self._now_us)
            if (uid, name) in self._alone_until:
                self._alone_until[uid, name] = self._now_us
            return
        self.waits.setdefault(life.container_id, held.what)
        until_us = held.until_ns // NS_PER_US
        if self._assume == "healthy":
            self._alone_until[uid, name] = until_us
            self._hold.attempt(Turn(uid, name, "liveness", self._now_us // US_PER_MS, True, "ok", 0.0, 0.0, ""))
            return
        self._alone_until[uid, name] = None
        period_us = known.period_us(name)
        self._at(min(self._now_us + period_us, until_us), _JUDGED, partial(self._ask_again, known, life, kill))

    def _ask_again(self, known: KnownPod, life: Life, kill: Kill) -> None:
        if self._hold.held(known.pod.uid, life.container) is not None:
            self._ask(known, life, kill)
