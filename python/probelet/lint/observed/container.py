"""The observations of one container of one pod. None and empty values mean that the source does not say it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from probelet.lint.observed.outage import Outage
from probelet.spec.model.probe import ProbeType


class Start(NamedTuple):
    """A start that came to its end: the startup probe passed, or the container was ready."""

    at: float
    """When it began, in Unix seconds."""
    took: float
    """Seconds."""


class Run(NamedTuple):
    """A container from its start to its end, in Unix seconds."""

    begin: float
    end: float | None
    """None while it runs."""
    killed: bool
    """A probe ended it."""


@dataclass(frozen=True)
class ObservedProbe:
    """One probe. Times are seconds."""

    runs: int = 0
    """Finished runs; 0 if nobody counted them."""
    failures: int = 0
    errors: int = 0
    """Runs that ended in an error of the prober, which counts as no outcome."""
    starved: int = 0
    """Runs that ran out of time while the prober itself was late."""
    result: str = ""
    """The result in force: ``Success`` or ``Failure``; empty if it is not known."""
    cause: str = ""
    """The cause of the last failure, in one word; empty if it is not known."""
    slow: float | None = None
    """How long slow attempts take: the 99th percentile, or the bound of the histogram's bucket that has it, or the
    length of the one attempt that was seen."""
    mean: float | None = None
    """How long attempts take on average."""
    attempts: int = 0
    """How many attempts ``slow`` and ``mean`` come from."""
    lateness: float | None = None
    """How late runs begin: the 99th percentile, or the lateness of the one that was seen."""
    outages: tuple[Outage, ...] = ()
    """Of readiness."""
    calm: int | None = None
    """The smallest failureThreshold with which a play of the recording has no outage; None if it was not looked for
    (``calm``), or if there is none."""


@dataclass(frozen=True)
class ObservedContainer:
    """One container of one pod. Times are seconds."""

    namespace: str
    """Empty if the source does not say it."""
    pod: str
    name: str
    probes: Mapping[ProbeType, ObservedProbe] = field(default_factory=dict)
    restarts: int | None = None
    span: float | None = None
    """The time in which the restarts, runs and failures were counted."""
    is_waiting: bool = False
    """It waits for its next start, because it crashed."""
    age: float | None = None
    """The time since its last start, or at least so much."""
    starts: tuple[Start, ...] = ()
    """In their order."""
    lives: tuple[Run, ...] = ()
    """In their order."""
    image: str = ""
    """Empty if the source does not say it."""

    @property
    def release(self) -> str:
        """The name of its version: its image, or the pod's name without the last part, which ends in the hash of a
        Deployment's template."""
        return self.image or self.pod.rpartition("-")[0]

    @property
    def kills_in_row(self) -> int:
        """The most runs one after another that a probe ended."""
        longest = row = 0
        for run in self.lives:
            row = row + 1 if run.killed else 0 if run.end is not None else row
            longest = max(longest, row)
        return longest

    @property
    def waits(self) -> tuple[float, ...]:
        """The times between the ends of runs and the next starts."""
        pairs = zip(self.lives, self.lives[1:], strict=False)
        return tuple(max(later.begin - run.end, 0) for run, later in pairs if run.end is not None)


@dataclass(frozen=True)
class ObservedClients:
    """How long clients wait for the answers of a workload, or of what is behind a Service."""

    namespace: str
    """Empty if the source does not say it."""
    workload: str
    """Empty if the source knows Services only."""
    service: str
    """Empty if the source knows workloads only."""
    slow: float
    """Seconds: the bound of the histogram's bucket that has the 99th percentile."""
    requests: int


Observation: TypeAlias = ObservedContainer | ObservedClients
"""The report of a source about one thing."""
