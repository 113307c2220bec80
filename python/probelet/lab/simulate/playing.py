"""Plays manifests through a scenario on a virtual cluster: until all is ready, then with traffic and faults."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from probelet.lab.scenario.begin import faults, offers
from probelet.lab.scenario.behave import behave
from probelet.lab.scenario.pattern import Templates
from probelet.lab.scenario.read import ScenarioFile
from probelet.lab.simulate.manifests import Manifests
from probelet.policy.incidents import Output
from probelet.spec.annotation.hold_kills import HoldChoice
from probelet.spec.text.duration import SECOND, format_duration
from probelet.virtual.cluster import History, VirtualCluster

SETTLE_STEP: Final = 5
"""Seconds between two looks whether all is ready."""
SETTLE_ROUND: Final = 10
"""Traffic begins at a multiple of so many seconds, which are easier to read."""
SETTLE_MAX: Final = 3_600
"""Seconds after which traffic begins although something is not ready. No real start-up budget is longer."""
SLICES: Final = 200
"""A simulation is played in so many parts: its progress shows, and Ctrl-C waits for one part at most."""

Watch = Callable[[float], None]
"""Gets the share of a simulation that has been played, 0 to 1, after each part."""


@dataclass(frozen=True)
class Setting:
    """The setting that all plays of a simulation share."""

    file: ScenarioFile
    seed: int
    release: str
    """The kubelet release whose rules apply."""
    rates: dict[str, float] = field(default_factory=dict)
    """Requests per second of each Service, if a play before has set them; a change of replicas must not change them."""
    budgets: Templates = field(default_factory=dict)
    """The templates whose start-up budgets count: those of the first version that is played."""
    hold_kills: HoldChoice = "off"
    """Which liveness kills wait while an incident is open, for pods that do not say so themselves."""
    guard: Mapping[str, str] | None = None
    """The settings of enhanced liveness, which then decides about failed liveness probes; None: each kubelet does."""


@dataclass(frozen=True)
class Played:
    """A simulation that was played, perhaps not to its end."""

    history: History
    began: float
    """When traffic began, in seconds; faults count from there."""
    planned: float
    """When it was to end."""
    rates: dict[str, float]
    assumed: list[str]
    """The assumptions about probes that ask dependencies."""
    late: list[str]
    """The workloads that were not ready when traffic began."""
    templates: Templates
    interrupted: bool
    decisions: Mapping[str, int]
    """How often each reason of enhanced liveness decided; empty without it."""
    wall_seconds: float
    """The real time that the play took."""
    incidents: list[tuple[float, Output]] = field(default_factory=list)
    """The outputs of the detector of incidents, and their times."""


class Play:
    """One version of the manifests in one scenario. ``settle`` comes first, then ``go``."""

    def __init__(self, setting: Setting, objects: Iterable[Mapping[str, Any]], manifests: Manifests) -> None:
        scenario = setting.file.scenario
        self._setting = setting
        self._began_at = time.monotonic()
        self._cluster = VirtualCluster(
            list(objects),
            nodes=scenario.nodes,
            seed=setting.seed,
            kubelet_version=setting.release,
            endpoint_delay=format_duration(scenario.endpoint_delay),
            hold_kills=setting.hold_kills,
            strict=False,
        )
        if setting.guard is not None:
            self._cluster.guard(setting.guard)
        self.templates = manifests.templates(self._cluster.workloads)
        self._assumed = behave(scenario, self._cluster, self.templates, setting.budgets)
        self._offers = offers(setting.file, self._cluster, self.templates, setting.rates)
        for offer in self._offers:
            offer.begin(self._cluster, share=0.0)
        self._interrupted = False

    def settle(self) -> float:
        """Let everything start up. Returns when traffic may begin, in seconds."""
        settle = self._setting.file.scenario.settle
        if settle is not None:
            self._run(settle / SECOND)
            return self._cluster.now
        # A pod without a readiness probe is ready before its process serves.
        self._run(self._assumed.startup_seconds)
        while self._cluster.now < SETTLE_MAX and self._unready() and self._run(SETTLE_STEP):
            pass
        seen = self._cluster.now + self._setting.file.scenario.endpoint_delay / SECOND
        return (seen // SETTLE_ROUND + 1) * SETTLE_ROUND

    def go(self, begins: float, duration: float, watch: Watch | None = None) -> Played:
        """Play the traffic and the faults: from ``begins`` on, for ``duration`` seconds.

        Raises ``ScenarioError`` if the scenario names something that the manifests do not have.
        """
        cluster, file = self._cluster, self._setting.file
        self._run(begins - cluster.now)
        late = self._unready()
        for offer in self._offers:
            offer.begin(cluster)
        rates = {offer.service: offer.rate for offer in self._offers}
        cluster.fault(*faults(file, cluster, self.templates, self._setting.budgets, rates))
        for part in range(SLICES):
            if not self._run(duration / SLICES):
                break
            if watch is not None:
                watch((part + 1) / SLICES)
        return Played(
            history=cluster.history,
            began=begins,
            planned=begins + duration,
            rates=rates,
            assumed=self._assumed.asks,
            late=late,
            templates=self.templates,
            interrupted=self._interrupted,
            decisions=cluster.decisions,
            incidents=cluster.incidents(),
            wall_seconds=time.monotonic() - self._began_at,
        )

    def _unready(self) -> list[str]:
        return [name for name in self.templates if self._cluster.ready(name) < self._cluster.wanted(name)]

    def _run(self, seconds: float) -> bool:
        """Let time go by; False after Ctrl-C, from which on time stands still."""
        if seconds > 0 and not self._interrupted:
            try:
                self._cluster.run(format_duration(round(seconds * SECOND)))
            except KeyboardInterrupt:
                self._interrupted = True
        return not self._interrupted
