"""The detector's knowledge: pods with their probes, and how many pods have each thing that pods can share."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypeVar

from probelet.policy.incidents.family import Family, family_of
from probelet.policy.incidents.inputs import ProbeKey, Subject

ThingName = Literal["node", "network", "workload", "image", "target", "rollout", "container", "spot"]
Thing: TypeAlias = tuple[ThingName, str]
"""Something that pods share: its sort and its name. ``network`` is a node, for the probes there that ask beyond their
own container. A ``spot`` is a workload on a node. A ``workload`` is ``namespace/Kind/name``, a ``rollout`` is that of a
workload. A ``container`` is ``namespace/pod/container``, which no other pod has."""

T = TypeVar("T")

RUN_MAX: Final = 3
"""Failed attempts in a row that count as evidence; more say nothing new."""
DECAY_MS: Final = 10_000
"""The share of late attempts of a node is one of about the last so many milliseconds."""
LATE_SHARE: Final = 0.25
"""An attempt is late if the prober was late by more than this share of its timeout."""
START_UNKNOWN_MS: Final = 300_000
"""How long a pod may take until its first good attempt if no pod of its workload was seen to start."""
START_LEAST_MS: Final = 30_000
START_FACTOR: Final = 2
"""A pod that takes so many times as long as the slowest start of its workload is overdue."""


@dataclass(slots=True, eq=False)
class Probe:
    """A probe and its latest attempts."""

    subject: Subject
    was_good: bool = False
    is_bad: bool = False
    """Whether its last attempt failed, and that counts against its pod."""
    run: int = 0
    """Failed attempts in a row."""
    worst: int = 0
    """The most of them in the pod's present trouble."""
    trouble_ms: int = -1
    """The pod's ``bad_ms`` of the latest trouble in which it failed."""
    cause: str = ""
    counted_in: str = ""
    """The identifier of the incident that has counted it."""

    @property
    def family(self) -> Family:
        """The family of the last failure's cause."""
        return family_of(self.cause)


@dataclass(slots=True, eq=False)
class Pod:
    """A pod: the unit of all shares."""

    uid: str
    namespace: str
    name: str
    node: str
    workload: str
    """``namespace/Kind/name``."""
    known_ms: int
    """Since when, by the detector's clock."""
    revision: int = 0
    """How many rollouts of the workload came before it."""
    probes: list[Probe] = field(default_factory=list)
    things: Counter[Thing] = field(default_factory=Counter)
    """How many of its probes have each thing."""
    is_bad: bool = False
    bad_ms: int = -2
    """Since when it is bad or was so a short time ago, by the detector's clock."""
    bad_lag_ms: int = 0
    """How long before ``bad_ms`` the first attempt of that time failed: a small number, for which Python has one object
    however many pods have it."""
    fresh_ms: int = 0
    """Until when it counts although it is good again; 0 while it is bad."""
    exited: str = ""
    """The container that ended by itself, until the next good attempt."""
    exits: int = 0
    """How often, since it was well."""
    restarted: bool = False
    """Whether a container was killed or ended since the last good attempt; then it is starting."""
    kills: int = 0
    """Kills that no incident has counted yet."""
    incident: str = ""
    """The identifier of the incident that it belongs to, or of the last one."""

    @property
    def weight(self) -> int:
        """How many failed attempts in a row speak against it; an end of a container counts twice."""
        found = min(RUN_MAX, 2 * self.exits)
        for probe in self.bad_probes():
            found = max(found, min(RUN_MAX, probe.worst))
        return found or 1

    def bad_probes(self) -> list[Probe]:
        """The probes that failed in the present trouble."""
        return [probe for probe in self.probes if probe.trouble_ms == self.bad_ms]

    def is_in_trouble(self, now: int) -> bool:
        """Whether it is bad, or was so a short time ago."""
        return self.is_bad or now < self.fresh_ms

    def names(self) -> Iterator[str]:
        """The containers with failed probes, or that ended, in full."""
        found = dict.fromkeys(probe.subject.container for probe in self.bad_probes())
        if self.exited:
            found[self.exited] = None
        for container in found:
            yield f"{self.namespace}/{self.name}/{container}"


@dataclass(slots=True)
class WorkloadFacts:
    """The pods of a workload in numbers, and its last rollout."""

    pods: int = 0
    revision: int = 0
    """How many rollouts were reported."""
    image: str = ""
    rolled_ms: int | None = None
    """When the last one was, by the detector's clock."""
    start_ms: int = 0
    """The longest start of a pod that was seen."""
    new: int = 0
    """Pods of the last rollout."""


@dataclass(slots=True)
class _Lateness:
    """How many of a node's recent attempts were late; both numbers fade."""

    late: float = 0.0
    all: float = 0.0
    seen_ms: int = 0


class Known:
    """All pods and the things that they share."""

    def __init__(self) -> None:
        self.probes: dict[ProbeKey, Probe] = {}
        self.pods: dict[str, Pod] = {}
        self.workloads: dict[str, WorkloadFacts] = {}
        self.with_thing: Counter[Thing] = Counter()
        """How many pods have each thing."""
        self._nodes: dict[str, _Lateness] = {}
        self._periods: Counter[int] = Counter()

    @property
    def longest_period_ms(self) -> int:
        """The longest period of the probes; there are few different ones."""
        return max(self._periods, default=0)

    def add(self, subject: Subject, now: int) -> None:
        """Takes a probe; a later call replaces what an earlier one said."""
        if (old := self.probes.get(subject.key)) is not None:
            if old.subject == subject:
                return
            self.remove(subject.key)
        pod = self.pods.get(subject.pod_uid)
        if pod is None:
            pod = self.pods[subject.pod_uid] = self._pod(subject, now)
        probe = Probe(subject)
        self.probes[subject.key] = probe
        self._periods[subject.period_ms] += 1
        pod.probes.append(probe)
        for thing in _things(subject, pod):
            pod.things[thing] += 1
            if pod.things[thing] == 1:
                self.with_thing[thing] += 1

    def _pod(self, subject: Subject, now: int) -> Pod:
        workload = f"{subject.namespace}/{subject.workload or f'Pod/{subject.pod}'}"
        facts = self.workloads.setdefault(workload, WorkloadFacts())
        facts.pods += 1
        facts.new += 1
        uid, node = subject.pod_uid, subject.node
        self._nodes.setdefault(node, _Lateness(seen_ms=now))
        return Pod(uid, subject.namespace, subject.pod, node, workload, now, facts.revision)

    def remove(self, key: ProbeKey) -> Pod | None:
        """A probe is gone; returns its pod if that was the pod's last one."""
        probe = self.probes.pop(key, None)
        if probe is None:
            return None
        pod = self.pods[key.pod_uid]
        pod.probes.remove(probe)
        _less(self._periods, probe.subject.period_ms)
        for thing in _things(probe.subject, pod):
            pod.things[thing] -= 1
            if not pod.things[thing]:
                del pod.things[thing]
                _less(self.with_thing, thing)
        if pod.probes:
            return None
        del self.pods[pod.uid]
        facts = self.workloads[pod.workload]
        facts.pods -= 1
        facts.new -= pod.revision == facts.revision
        if not facts.pods:
            del self.workloads[pod.workload]
        if ("node", pod.node) not in self.with_thing:
            self._nodes.pop(pod.node, None)
        return pod

    def rolled_out(self, workload: str, image: str, now: int) -> None:
        """A workload has a new version: pods that come from now on are of it."""
        facts = self.workloads.get(workload)
        if facts is not None:
            facts.revision += 1
            facts.image, facts.rolled_ms, facts.new = image, now, 0

    def started(self, pod: Pod, now: int) -> None:
        """A probe of a pod has its first good attempt."""
        facts = self.workloads[pod.workload]
        facts.start_ms = max(facts.start_ms, now - pod.known_ms)

    def is_overdue(self, pod: Pod, now: int) -> bool:
        """Whether a pod should have started by now."""
        longest = self.workloads[pod.workload].start_ms
        allowed = max(START_LEAST_MS, START_FACTOR * longest) if longest else START_UNKNOWN_MS
        return now - pod.known_ms > allowed

    @property
    def nodes(self) -> int:
        """How many nodes have pods."""
        return len(self._nodes)

    def attempt(self, node: str, now: int, *, is_late: bool) -> None:
        """Count an attempt on a node."""
        found = self._nodes.get(node)
        if found is None:
            return
        fade = 1.0 - min(1.0, (now - found.seen_ms) / DECAY_MS)
        found.late, found.all, found.seen_ms = found.late * fade + is_late, found.all * fade + 1.0, now

    def late_share(self, node: str) -> float:
        """The share of a node's recent attempts that were late."""
        found = self._nodes.get(node)
        return found.late / found.all if found is not None and found.all else 0.0


def spot(node: str, workload: str) -> Thing:
    """A workload's pods on one node."""
    return "spot", f"{node} {workload}"


def _things(subject: Subject, pod: Pod) -> list[Thing]:
    found: list[Thing] = [("node", subject.node), ("workload", pod.workload), spot(subject.node, pod.workload)]
    found += [("target", target) for target in dict.fromkeys(subject.targets)]
    if subject.targets:
        found.append(("network", subject.node))
    if subject.image:
        found.append(("image", subject.image))
    return found


def _less(counted: Counter[T], name: T) -> None:
    counted[name] -= 1
    if not counted[name]:
        del counted[name]
