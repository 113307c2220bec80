"""Finds incidents among the attempts of probes. Rules

1. A pod is in trouble from the failure of a probe that was good before, and for one period of the probe after it is
   good again. A probe that was never good counts once it runs into its timeout twice, or once its pod takes twice as
   long as the slowest start that was seen of its workload. Startup probes do not count; what they kill does.
2. The detector explains pods in trouble that no open incident covers together, one period after the first of them: by
   then, whatever struck it has struck the others (``explain``).
3. What no explanation covers is one container's trouble, once a probe has failed as often as its threshold says and
   twice at least, two probes have failed twice in a row, or the container was killed or has ended twice.
4. A pod that fails later and has what an open incident is about belongs to that incident. For ``SETTLED`` periods an
   incident that grows may turn out to be another; two may turn out to be one.
5. An incident is over when at most a tenth of its pods fail, for one period.
6. After a container was killed or has ended its probes fail while it starts; that says nothing new.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from sys import intern
from typing import Final

from probelet.policy.incidents.explain import Explanation, explain
from probelet.policy.incidents.family import EXITED, family_of
from probelet.policy.incidents.inputs import Exited, Input, Killed, Passed, ProbeGone, ProbeKey, ProbeKnown, RolledOut
from probelet.policy.incidents.known import LATE_SHARE, Known, Pod, Probe, Thing
from probelet.policy.incidents.open import GROWTH, OpenIncident
from probelet.policy.incidents.outputs import Began, Ended, Grew, Incident, Output, Reclassified
from probelet.policy.incidents.steady_clock import SteadyClock
from probelet.policy.incidents.turn import Turn
from probelet.policy.incidents.wording import alone, evidence

WAIT_LEAST_MS: Final = 1_000
WAIT_MOST_MS: Final = 120_000
WAIT_PERIODS: Final = 1.05
"""How many periods of the probes that fail pass before the detector explains them."""
AGAIN_MS: Final = 1_000
"""The least time between two looks, and between two outputs about one incident that grows."""
SETTLED: Final = 3
"""After so many periods of its probes an incident stays what it is."""
SETTLED_SLOWEST: Final = 2
"""But not before so many of the slowest probe that there is: others that share something may fail as late as that."""
ENDED_MS: Final = 120_000
"""A pod with a container that ended is in trouble for so long after it is well again, because it may end again."""
OPEN_MAX: Final = 500
"""Open incidents; troubles beyond wait until one is over."""


class IncidentDetector:
    """``handle`` takes an input and returns what follows from it; call it with ``Passed()`` at ``next_deadline_ms``."""

    def __init__(self) -> None:
        self._known = Known()
        self._clock = SteadyClock()
        self._loose: dict[str, Pod] = {}
        """Pods in trouble that no incident covers, by UID."""
        self._open: dict[str, OpenIncident] = {}
        """By id."""
        self._by_thing: dict[Thing, OpenIncident] = {}
        self._grown: dict[str, OpenIncident] = {}
        self._quiet: dict[str, OpenIncident] = {}
        self._look_ms: int | None = None
        self._tell_ms: int | None = None
        self._has_news = False
        """Whether more probes of a young incident have failed since the last look."""
        self._number = 0
        self._out: list[Output] = []

    @property
    def open(self) -> list[Incident]:
        """The open incidents, oldest first."""
        return [each.shown() for each in self._open.values()]

    def striking(self, pod_uid: str) -> Incident | None:
        """The open incident that a pod belongs to, while most of it still fails; None without one."""
        pod = self._known.pods.get(pod_uid)
        incident = None if pod is None else self._owner(pod)
        return incident.shown() if incident is not None and incident.is_striking else None

    @property
    def next_deadline_ms(self) -> int | None:
        """When ``handle`` wants to be called again, by the caller's clock; None: not before the next input."""
        due = self._due()
        return None if due is None else self._clock.wall(due)

    def handle(self, now_ms: int, given: Input) -> list[Output]:
        """Take an input at a time in Unix milliseconds."""
        now = self._clock.look(now_ms, self._due())
        match given:
            case Turn():
                self._turn(given, now)
            case ProbeKnown():
                self._known.add(given.subject, now)
            case ProbeGone():
                self._gone(given, now)
            case RolledOut():
                self._known.rolled_out(f"{given.namespace}/{given.workload}", given.image, now)
            case Killed():
                self._killed(given, now)
            case Exited():
                self._exited(given, now)
            case Passed():
                pass
        if self._look_ms is not None and now >= self._look_ms:
            self._look(now)
        if self._tell_ms is not None and now >= self._tell_ms:
            self._tell()
        if self._quiet:
            self._end_quiet(now)
        out, self._out = self._out, []
        return out

    def play(self, now_ms: int, given: Input) -> Iterator[tuple[int, Output]]:
        """Handle what was due before ``now_ms``, then an input, for a caller whose time jumps. Yields outputs with
        their times in Unix milliseconds."""
        while (due := self.next_deadline_ms) is not None and due < now_ms:
            for output in self.handle(due, Passed()):
                yield due, output
        for output in self.handle(now_ms, given):
            yield now_ms, output

    # Inputs.

    def _turn(self, turn: Turn, now: int) -> None:
        probe = self._known.probes.get(ProbeKey(turn.pod_uid, turn.container, turn.probe_type))
        if probe is None:
            return
        pod = self._known.pods[turn.pod_uid]
        late = max(turn.lateness_ms, turn.overdue_ms) > LATE_SHARE * probe.subject.timeout_ms
        self._known.attempt(pod.node, now, is_late=late or turn.cause == "starved")
        if turn.probe_type == "startup":
            return
        if turn.is_good:
            self._good(probe, pod, now)
        else:
            self._bad(probe, pod, turn, now)

    def _good(self, probe: Probe, pod: Pod, now: int) -> None:
        if not probe.was_good:
            probe.was_good = True
            self._known.started(pod, now)
        probe.run = 0
        if not pod.is_bad:
            return
        probe.is_bad = False
        pod.exited, pod.restarted = "", False
        if any(each.is_bad for each in pod.probes):
            return
        pod.is_bad = False
        pod.fresh_ms = now + (ENDED_MS if pod.exits else _wait(pod))
        if (incident := self._owner(pod)) is not None:
            incident.bad -= 1
            self._check_quiet(incident, now)

    def _bad(self, probe: Probe, pod: Pod, turn: Turn, now: int) -> None:
        probe.run += 1
        if pod.restarted and not probe.is_bad:
            return
        is_timeout = family_of(turn.cause) == "timeout"
        if not (probe.was_good or (is_timeout and probe.run > 1) or self._known.is_overdue(pod, now)):
            return
        self._trouble(pod, turn.at_ms, now)
        if not pod.restarted or not probe.cause:
            # Every turn comes with a string of its own; one for all pods keeps a large incident small.
            probe.cause = intern(turn.cause)
        probe.worst = max(probe.run, probe.worst if probe.trouble_ms == pod.bad_ms else 0)
        probe.is_bad, probe.trouble_ms = True, pod.bad_ms
        self._place(pod, now)

    def _killed(self, given: Killed, now: int) -> None:
        pod = self._known.pods.get(given.pod_uid)
        if pod is None:
            return
        if (incident := self._owner(pod)) is not None:
            pod.restarted = True
            incident.kill()
            self._grow(incident, now)
        else:
            self._ended(pod, given.container, given.at_ms, now, kills=1)

    def _exited(self, given: Exited, now: int) -> None:
        if (pod := self._known.pods.get(given.pod_uid)) is not None:
            self._ended(pod, given.container, given.at_ms, now)

    def _ended(self, pod: Pod, container: str, at_ms: int, now: int, *, kills: int = 0) -> None:
        self._trouble(pod, at_ms, now)
        pod.kills += kills
        pod.exited, pod.restarted = container, True
        pod.exits += 1
        self._place(pod, now)

    def _gone(self, given: ProbeGone, now: int) -> None:
        pod = self._known.pods.get(given.key.pod_uid)
        if pod is None or self._known.remove(given.key) is None:
            return
        self._loose.pop(pod.uid, None)
        if (incident := self._owner(pod)) is not None:
            if incident.young is not None and pod in incident.young:
                incident.young.remove(pod)
            incident.bad -= pod.is_bad
            self._check_quiet(incident, now)

    # Troubles.

    def _trouble(self, pod: Pod, at_ms: int, now: int) -> None:
        """A pod is in trouble: in a new one unless the last one was a short time ago."""
        if not pod.is_in_trouble(now):
            pod.bad_ms, pod.bad_lag_ms, pod.exits, pod.kills = now, self._clock.wall(now) - at_ms, 0, 0
        if not pod.is_bad:
            pod.is_bad, pod.fresh_ms = True, 0
            if (incident := self._owner(pod)) is not None:
                incident.bad += 1
                incident.peak = max(incident.peak, incident.bad)
                self._check_quiet(incident, now)

    def _failed_at(self, pod: Pod) -> int:
        """When the first attempt of its present trouble failed, by the caller's clock."""
        return self._clock.wall(pod.bad_ms) - pod.bad_lag_ms

    def _place(self, pod: Pod, now: int) -> None:
        """Put a pod in trouble where it belongs."""
        incident = self._owner(pod)
        if incident is None:
            incident = self._covering(pod)
            if incident is None:
                is_new = pod.uid not in self._loose
                self._loose[pod.uid] = pod
                is_due = self._is_lasting(pod)
                self._look_at(now if is_due else max(now + (0 if is_new else AGAIN_MS), pod.bad_ms + _wait(pod)))
                return
            self._loose.pop(pod.uid, None)
            self._take(pod, incident)
        elif incident.count(pod) and self._is_young(incident, now):
            self._has_news = True
            self._look_at(now + AGAIN_MS)
        _stretch(incident, pod)
        self._grow(incident, now)

    def _owner(self, pod: Pod) -> OpenIncident | None:
        """The open incident that a pod belongs to."""
        return self._open.get(pod.incident)

    def _take(self, pod: Pod, incident: OpenIncident) -> None:
        """A pod belongs to an incident from now on, and to no other."""
        owner = self._owner(pod)
        if owner is incident:
            return
        if owner is not None:
            owner.lose(pod)
        incident.take(pod)

    def _covering(self, pod: Pod) -> OpenIncident | None:
        """The open incident whose thing a pod has."""
        for probe in pod.bad_probes():
            for target in probe.subject.targets:
                found = self._by_thing.get(("target", target))
                if found is not None:
                    return found
        bad = pod.bad_probes()
        families = {probe.family for probe in bad}
        images = [("image", probe.subject.image) for probe in bad]
        for thing in (("node", pod.node), ("rollout", pod.workload), ("workload", pod.workload), *images):
            found = self._by_thing.get(thing)  # type: ignore[arg-type]
            if found is None:
                continue
            if thing[0] == "rollout" and pod.revision != self._known.workloads[pod.workload].revision:
                continue
            is_alike = found.family in families or found.kind not in ("shared", "prober")
            if is_alike or (found.kind == "prober" and families & {"prober", "timeout"}):
                return found
        return None

    # Looks.

    def _look_at(self, moment: int) -> None:
        self._look_ms = moment if self._look_ms is None else min(self._look_ms, moment)

    def _look(self, now: int) -> None:
        """Explain the troubles that no settled incident covers."""
        self._look_ms = None
        for pod in [pod for pod in self._loose.values() if not pod.is_in_trouble(now)]:
            del self._loose[pod.uid]
        if not self._loose and not self._has_news:
            return
        self._has_news = False
        young = [each for each in self._open.values() if self._is_young(each, now)]
        pods = list(self._loose.values())
        for incident in young:
            pods += [pod for pod in incident.young or () if pod.is_in_trouble(now)]
        explanations, left = explain(pods, self._known, now)
        for found in explanations:
            self._conclude(found, now)
        failing = Counter(pod.workload for pod in pods)
        for pod in left:
            if pod.uid in self._loose and self._is_lasting(pod):
                self._single(pod, failing[pod.workload] - 1, now)
        if not self._loose:
            # A dictionary that was large stays so.
            self._loose = {}
        later = [pod.bad_ms + _wait(pod) for pod in self._loose.values()]
        for moment in later:
            if moment > now:
                self._look_at(moment)

    def _is_young(self, incident: OpenIncident, now: int) -> bool:
        slowest = min(WAIT_MOST_MS, self._known.longest_period_ms)
        settles = incident.born_ms + max(SETTLED * incident.wait_ms, SETTLED_SLOWEST * slowest)
        is_old = now > settles and incident.kind != "container"
        if incident.young is not None and is_old:
            incident.young = None
        return incident.young is not None

    def _conclude(self, found: Explanation, now: int) -> None:
        """Begin an incident, or let the one grow that most of these pods belong to."""
        owners: dict[str, int] = {}
        for pod in found.pods:
            if (owner := self._owner(pod)) is not None:
                owners[owner.id] = owners.get(owner.id, 0) + 1
        if not owners:
            self._begin(found, evidence(found, self._known), now)
            return
        incident = self._open[max(owners, key=lambda each: owners[each])]
        for pod in found.pods:
            self._move(pod, incident)
        if found.size >= GROWTH * incident.judged:
            self._forget_things(incident)
            changed = incident.judge(found, evidence(found, self._known))
            self._remember_things(incident)
            if changed:
                self._say(Reclassified, incident)
        self._grow(incident, now)
        for other in owners:
            if other != incident.id and other in self._open and not self._open[other].pods:
                self._open[other].merged_into = incident.id
                self._finish(self._open[other], now)

    def _move(self, pod: Pod, incident: OpenIncident) -> None:
        self._loose.pop(pod.uid, None)
        self._take(pod, incident)
        incident.since_ms = min(incident.since_ms, self._failed_at(pod))
        _stretch(incident, pod)

    def _single(self, pod: Pod, others_bad: int, now: int) -> None:
        name = next(pod.names(), f"{pod.namespace}/{pod.name}")
        bad = pod.bad_probes()
        cause = bad[0].cause if bad else EXITED
        found = Explanation("container", ("container", name), [pod], 1, 0, 0, cause, family_of(cause))
        self._begin(found, alone(pod, self._known, others_bad), now)

    def _is_lasting(self, pod: Pod) -> bool:
        """Whether one container's trouble is more than chance (rule 3)."""
        bad = pod.bad_probes()
        if pod.exits > 1 or pod.kills or sum(probe.worst > 1 for probe in bad) > 1:
            return True
        return any(probe.worst >= max(2, probe.subject.failure_threshold) for probe in bad)

    def _begin(self, found: Explanation, text: str, now: int) -> None:
        if len(self._open) >= OPEN_MAX:
            return
        self._number += 1
        since = min(map(self._failed_at, found.pods))
        made = OpenIncident(f"{since:x}-{self._number}", found.kind, found.thing, found.family, found.cause, since, now)
        made.judge(found, text)
        self._open[made.id] = made
        for pod in found.pods:
            self._move(pod, made)
        self._remember_things(made)
        self._say(Began, made)
        self._check_quiet(made, now)

    def _things_of(self, incident: OpenIncident) -> list[Thing]:
        if incident.kind == "container":
            return []
        if incident.thing is not None:
            return [incident.thing]
        return [("workload", name) for name in sorted(incident.workloads_of)]

    def _remember_things(self, incident: OpenIncident) -> None:
        for thing in self._things_of(incident):
            self._by_thing.setdefault(thing, incident)

    def _forget_things(self, incident: OpenIncident) -> None:
        for thing in self._things_of(incident):
            if self._by_thing.get(thing) is incident:
                del self._by_thing[thing]

    # Growth and ends.

    def _grow(self, incident: OpenIncident, now: int) -> None:
        self._grown[incident.id] = incident
        if self._tell_ms is None:
            self._tell_ms = now + AGAIN_MS

    def _tell(self) -> None:
        self._tell_ms = None
        for incident in self._grown.values():
            if incident.is_news:
                self._say(Grew, incident)
        self._grown.clear()

    def _check_quiet(self, incident: OpenIncident, now: int) -> None:
        if not incident.is_quiet:
            incident.quiet_ms = None
            self._quiet.pop(incident.id, None)
        elif incident.quiet_ms is None:
            incident.quiet_ms = now
            self._quiet[incident.id] = incident

    def _end_quiet(self, now: int) -> None:
        for incident in [each for each in self._quiet.values() if now >= (each.quiet_ms or 0) + each.calm_ms]:
            self._finish(incident, incident.quiet_ms or now)

    def _finish(self, incident: OpenIncident, when: int) -> None:
        incident.finish(self._clock.wall(when))
        self._quiet.pop(incident.id, None)
        self._grown.pop(incident.id, None)
        self._forget_things(incident)
        del self._open[incident.id]
        self._say(Ended, incident)

    def _say(self, what: Callable[[Incident], Output], incident: OpenIncident) -> None:
        incident.told = (incident.pods, incident.killed)
        self._out.append(what(incident.shown()))

    def _due(self) -> int | None:
        # Every input of every probe asks this twice, so nothing is made for the answer.
        due = self._look_ms
        if self._tell_ms is not None and (due is None or self._tell_ms < due):
            due = self._tell_ms
        for each in self._quiet.values():
            over = (each.quiet_ms or 0) + each.calm_ms
            if due is None or over < due:
                due = over
        return due


def _stretch(incident: OpenIncident, pod: Pod) -> None:
    """The waits of an incident are those of the slowest of its pods."""
    incident.wait_ms = max(incident.wait_ms, _wait(pod))
    incident.calm_ms = max(incident.calm_ms, ENDED_MS if pod.exits else _wait(pod))


def _wait(pod: Pod) -> int:
    """About one period of the probes of a pod that fail."""
    longest = max((probe.subject.period_ms for probe in pod.bad_probes() or pod.probes), default=0)
    return min(WAIT_MOST_MS, max(WAIT_LEAST_MS, round(WAIT_PERIODS * longest)))
