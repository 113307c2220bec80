"""Quiet hours: attempts that fail by chance, one by one, and nothing else. There must be no incident.

The pure detector gets the turns, not a whole virtual cluster. Good attempts that follow a good one are left out, as a
caller may do, so 10,000 hours take seconds.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from heapq import heappop, heappush
from math import log
from random import Random
from typing import Any, Final

from probelet.policy.incidents import Began, IncidentDetector, ProbeKnown, Subject, Turn

HOUR_MS: Final = 3_600_000
EACH_HOURS: Final = 100
"""The hours of one cluster."""
CHANCES: Final = (0.0001, 0.001, 0.003)
"""How probable it is that an attempt fails by chance."""
CAUSES: Final = ("header_timeout", "header_timeout", "exec_timeout", "connect_timeout", "reset", "status", "exec_exit")


@dataclass(frozen=True)
class Quiet:
    """The outcome of quiet hours."""

    chance: float
    clusters: int
    hours: int
    attempts: int
    failed: int
    incidents: int
    kinds: dict[str, int]

    def row(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def quiet(hours: int, seed: int) -> list[Quiet]:
    """Plays so many hours, the chances in turn."""
    found = []
    for number, chance in enumerate(CHANCES):
        clusters = max(1, hours // EACH_HOURS // len(CHANCES) + (number < hours // EACH_HOURS % len(CHANCES)))
        attempts = failed = 0
        kinds: dict[str, int] = {}
        for cluster in range(clusters):
            made, bad, began = _cluster(Random(f"{seed} {chance} {cluster}"), chance)
            attempts, failed = attempts + made, failed + bad
            for kind in began:
                kinds[kind] = kinds.get(kind, 0) + 1
        found.append(Quiet(chance, clusters, clusters * EACH_HOURS, attempts, failed, sum(kinds.values()), kinds))
    return found


def _cluster(random: Random, chance: float) -> tuple[int, int, list[str]]:
    """One cluster: its attempts, the failed ones, and the kinds of the incidents that began."""
    detector = IncidentDetector()
    subjects = list(_subjects(random))
    for subject in subjects:
        detector.handle(0, ProbeKnown(subject))
    end = EACH_HOURS * HOUR_MS
    began: list[str] = []
    failed = 0
    queue: list[tuple[int, int, bool]] = []
    for index, subject in enumerate(subjects):
        detector.handle(1_000, _turn(subject, 1_000, random, good=True))
        heappush(queue, (1_000 + subject.period_ms * _gap(random, chance), index, False))
    while queue:
        at, index, good = heappop(queue)
        if at > end:
            break
        subject = subjects[index]
        outputs = detector.play(at, _turn(subject, at, random, good=good))
        began += [output.incident.kind for _, output in outputs if isinstance(output, Began)]
        failed += not good
        if good:
            heappush(queue, (at + subject.period_ms * (_gap(random, chance)), index, False))
        else:
            heappush(queue, (at + subject.period_ms, index, random.random() >= chance))
    return sum(end // subject.period_ms for subject in subjects), failed, began


def _gap(random: Random, chance: float) -> int:
    """How many attempts later the next one fails."""
    return 1 + int(log(1.0 - random.random()) / log(1.0 - chance))


def _subjects(random: Random) -> Iterator[Subject]:
    nodes = random.randint(1, 6)
    targets = [f"dep-{number}:80" for number in range(random.randint(1, 3))]
    for app in range(random.randint(2, 12)):
        asks = tuple(random.sample(targets, random.randint(0, 1)))
        period, other = random.choice((2, 5, 10, 10, 20)), random.choice((5, 10, 20))
        for pod in range(random.choice((1, 1, 2, 3, 5))):
            node = f"node-{random.randrange(nodes)}"
            for probe_type, seconds in (("readiness", period), ("liveness", other)):
                yield Subject(
                    f"{app}-{pod}", "default", f"app-{app}-{pod}", "app", probe_type, node, f"Deployment/app-{app}",
                    f"app-{app}:1", asks if probe_type == "readiness" else (), period_ms=seconds * 1_000,
                )  # fmt: skip


def _turn(subject: Subject, at: int, random: Random, *, good: bool) -> Turn:
    cause = "ok" if good else random.choice(CAUSES)
    return Turn(subject.pod_uid, subject.container, subject.probe_type, at, good, cause, 0.0, 0.0, "")
