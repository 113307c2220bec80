"""The troubles of each workload's probes after traffic began: failures, their reasons, and what they did."""

import math
from collections import Counter
from dataclasses import dataclass, field

from probelet.lab.simulate.playing import Played
from probelet.lab.simulate.verdict import left
from probelet.spec.model.probe import ProbeType
from probelet.virtual.cluster import Attempt, PodRecord

Key = tuple[str, ProbeType]
"""A container's own name, and the type of its probe."""

SAME_MOMENT = 0.1
"""Seconds between the end of a container and what the status makes of it."""

_WORDS = {
    "starting": "the container had not started up yet",
    "load": "the probe waited behind requests",
    "deadlock": "the process answered nothing any more",
    "pause": "the process stood still",
    "leak": "the process had become slow",
    "latency": "the answer took longer than the timeout",
    "prober": "the prober itself was late",
    "exited": "the container had ended",
}
"""The reasons of failed attempts that are no dependency's name."""


@dataclass
class Failures:
    """The failed attempts of one probe of a workload's pods."""

    attempts: int = 0
    timeouts: int = 0
    why: Counter[str] = field(default_factory=Counter)
    """By reason: a word of ``_WORDS``, or the name of a dependency."""

    @property
    def reason(self) -> str:
        """The most frequent reason: a word of ``_WORDS``, or the name of a dependency."""
        return self.why.most_common(1)[0][0] if self.why else "latency"

    @property
    def dependency(self) -> str | None:
        """The dependency that is the most frequent reason, if one is."""
        return None if self.reason in _WORDS else self.reason

    @property
    def words(self) -> str:
        """The most frequent reason as half a sentence."""
        if self.dependency is None:
            return _WORDS[self.reason]
        how = "answered too late" if self.timeouts * 2 >= self.attempts else "was down"
        return f"it asks {self.dependency}, which {how}"


@dataclass
class Trouble:
    """The troubles of one workload."""

    workload: str
    lost: float = 0.0
    left: list[float] = field(default_factory=list)
    """When pods left their Services because of a readiness probe, in order."""
    fell: list[float] = field(default_factory=list)
    """When pods left their Services because a container ended or started anew, in order."""
    kills: Counter[Key] = field(default_factory=Counter)
    first_kills: dict[Key, float] = field(default_factory=dict)
    is_rolled_out: bool = False
    """Whether there was a new version."""
    exits: int = 0
    """Ends of containers that neither a probe nor the end of their pod caused."""
    failures: dict[Key, Failures] = field(default_factory=dict)
    unready_at_end: int = 0
    replicas: int = 0
    """How many the workload wants at first, if it has a Service with traffic."""

    @property
    def weight(self) -> tuple[float, int, int]:
        """Troubles sort by it: what costs most requests first."""
        return (self.lost, self.kills.total(), len(self.left) + len(self.fell))


def troubles(played: Played) -> list[Trouble]:
    """The workloads with trouble, the worst first."""
    found = {name: Trouble(name) for name in played.templates}
    for service in played.history.services:
        if service.workload in found:
            found[service.workload].lost += service.totals.lost
            found[service.workload].replicas = service.wanted[0][1] if service.wanted else 0
    for pod in played.history.pods:
        if pod.workload in found:
            _pod(found[pod.workload], pod, played.began)
    for trouble in found.values():
        trouble.left.sort()
        trouble.fell.sort()
    troubled = [each for each in found.values() if each.lost >= 1 or each.weight[1:] != (0, 0) or each.unready_at_end]
    return sorted(troubled, key=lambda each: each.weight, reverse=True)


def _pod(trouble: Trouble, pod: PodRecord, began: float) -> None:
    ends = [exited.at for exited in pod.exits]
    for at in left(pod):
        if at >= began:
            fell = any(abs(at - end) <= SAME_MOMENT for end in ends)
            (trouble.fell if fell else trouble.left).append(at)
    trouble.is_rolled_out |= pod.version > 1
    kills = [kill for kill in pod.kills if kill.at >= began]
    for kill in kills:
        key: Key = (kill.container, kill.probe_type)
        trouble.kills[key] += 1
        trouble.first_kills[key] = min(trouble.first_kills.get(key, kill.at), kill.at)
    stopped = next((span.start for span in pod.spans if span.state == "terminating"), math.inf)
    ended = sum(1 for exited in pod.exits if began <= exited.at < stopped)
    trouble.exits += max(ended - len(kills), 0)
    if pod.spans and pod.spans[-1].state not in ("ready", "terminating", "gone"):
        trouble.unready_at_end += 1
    for probe in pod.probes:
        for attempt in probe.attempts:
            if attempt.at >= began and attempt.outcome in ("failure", "timeout"):
                _count(trouble.failures.setdefault((probe.container, probe.type), Failures()), attempt)


def _count(failures: Failures, attempt: Attempt) -> None:
    failures.attempts += 1
    failures.timeouts += attempt.outcome == "timeout"
    # Without a reason a probe fails because it is answered late.
    failures.why[attempt.why or "latency"] += 1
