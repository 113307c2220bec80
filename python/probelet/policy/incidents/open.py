"""An incident while it is open."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from probelet.policy.incidents.explain import Explanation
from probelet.policy.incidents.family import Family
from probelet.policy.incidents.known import Pod, Thing
from probelet.policy.incidents.outputs import Counts, Incident, Kind

NAMES_MAX: Final = 5
"""The containers and the workloads that an incident names."""
COUNTED_MAX: Final = 2_048
"""Workloads and nodes that an incident tells apart; its counts stop there."""
USELESS: Final = frozenset({"shared", "prober", "node"})
"""The kinds of incidents that a restart of a container does not mend."""
LEFT_MOST: Final = 0.1
"""An incident is over when no more than this share of its pods still fail."""
STRIKING_LEAST: Final = 0.5
"""An incident strikes while this share of its pods fail."""
GROWTH: Final = 1.2
"""An incident is judged anew when it has so many times the pods of the last time."""


@dataclass(slots=True, eq=False)
class OpenIncident:
    """An open incident: numbers and a few names, but not its pods once it is settled."""

    id: str
    kind: Kind
    thing: Thing | None
    family: Family
    cause: str
    since_ms: int
    """The time of its first failed attempt, as the turn says."""
    born_ms: int
    """By the detector's clock, as all that follows."""
    judged: int = 0
    """How many pods and probes the last judgement explained."""
    evidence: str = ""
    wait_ms: int = 1_000
    """About one period of its probes."""
    calm_ms: int = 1_000
    """How long it must be quiet until it is over."""
    young: list[Pod] | None = field(default_factory=list)
    """Its pods, while it may turn out to be another; None once it is settled."""
    workloads_of: frozenset[str] = frozenset()
    """The workloads that share something without a name."""
    bad: int = 0
    peak: int = 0
    pods: int = 0
    containers: int = 0
    probes: int = 0
    killed: int = 0
    useless: int = 0
    quiet_ms: int | None = None
    """Since when next to nothing of it fails."""
    ended_ms: int | None = None
    told: tuple[int, int] = (0, 0)
    """The pods and kills that the last output said."""
    merged_into: str = ""
    _names: dict[str, None] = field(default_factory=dict)
    _workloads: set[str] = field(default_factory=set)
    _nodes: set[str] = field(default_factory=set)

    def take(self, pod: Pod) -> None:
        """A pod, which no open incident has, is part of it from now on."""
        pod.incident = self.id
        self.pods += 1
        self.bad += pod.is_bad
        self.peak = max(self.peak, self.bad)
        self.killed += pod.kills
        self.useless += pod.kills if self.kind in USELESS else 0
        pod.kills = 0
        if self.young is not None:
            self.young.append(pod)
        for counted, name in ((self._workloads, pod.workload), (self._nodes, pod.node)):
            if len(counted) < COUNTED_MAX:
                counted.add(name)
        self.count(pod)

    def count(self, pod: Pod) -> bool:
        """Count the probes and containers of a pod that have failed by now; returns whether there are new ones."""
        before = self.probes
        known = {probe.subject.container for probe in pod.probes if probe.counted_in == self.id}
        for probe in pod.bad_probes():
            if probe.counted_in != self.id:
                probe.counted_in = self.id
                self.probes += 1
                if probe.subject.container not in known:
                    known.add(probe.subject.container)
                    self.containers += 1
        if len(self._names) < NAMES_MAX:
            self._names.update(dict.fromkeys(pod.names()))
        return self.probes > before

    def lose(self, pod: Pod) -> None:
        """A pod is part of another one."""
        self.bad -= pod.is_bad
        self.pods -= 1
        pod.incident = ""
        if self.young is not None:
            self.young.remove(pod)

    def kill(self) -> None:
        """A container of it is killed."""
        self.killed += 1
        self.useless += self.kind in USELESS

    def judge(self, found: Explanation, evidence: str) -> bool:
        """Take a judgement; returns whether it is another than the last one."""
        changed = (self.kind, self.thing) != (found.kind, found.thing)
        self.kind, self.thing, self.family, self.cause = found.kind, found.thing, found.family, found.cause
        self.workloads_of = found.workloads
        self.judged, self.evidence = found.size, evidence
        return changed

    def finish(self, when_ms: int) -> None:
        """It is over since then, as the caller's clock says."""
        self.ended_ms, self.young = when_ms, None

    @property
    def is_news(self) -> bool:
        """Whether it has more pods or kills than the last output said."""
        return self.pods > self.told[0] or self.killed > self.told[1]

    @property
    def is_quiet(self) -> bool:
        """Whether next to nothing of it fails."""
        return self.bad <= LEFT_MOST * self.peak

    @property
    def is_striking(self) -> bool:
        """Whether half as many of its pods as at its worst still fail: where more are well, the cause is gone."""
        return self.bad >= STRIKING_LEAST * self.peak

    def shown(self) -> Incident:
        """The incident as it is put out."""
        sort, value = self.thing if self.thing is not None else ("", "")
        counts = Counts(
            pods=max(self.pods, 1),
            containers=max(self.containers, 1),
            probes=self.probes,
            workloads=len(self._workloads),
            nodes=len(self._nodes),
        )
        return Incident(
            id=self.id,
            kind=self.kind,
            since_ms=self.since_ms,
            ended_ms=self.ended_ms,
            shared=sort,
            value=value,
            cause=self.cause,
            evidence=self.evidence,
            counts=counts,
            killed=self.killed,
            killed_for_nothing=self.useless,
            affected=tuple(list(self._names)[:NAMES_MAX]),
            merged_into=self.merged_into,
        )


def main_workloads(pods: list[Pod]) -> list[str]:
    """The workloads of pods, those with most of them first."""
    return [name for name, _ in Counter(pod.workload for pod in pods).most_common()]
