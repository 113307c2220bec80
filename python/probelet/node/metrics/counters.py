"""The node's own counters as Prometheus text. The engine counts and renders everything about probes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import get_args

import msgspec

from probelet.base.exposition.family import counter, gauge, page
from probelet.node.source.mistakes import REASONS as MISTAKES
from probelet.node.source.mistakes import Mistakes
from probelet.policy.node.container_age import ContainerAge
from probelet.policy.protocol.effects import KillContainer
from probelet.runtime.execs.counts import ExecCounts
from probelet.spec.model.pod import PodPhase


class Counters:
    """Counters with bounded labels only."""

    def __init__(self) -> None:
        self._kills: Counter[tuple[str, str]] = Counter()
        self._starts: Counter[bool] = Counter()

    def killed(self, effect: KillContainer) -> None:
        """Counts a container that was killed."""
        self._kills[effect.reason.label, effect.grace_source] += 1

    def started(self, *, again: bool) -> None:
        """Counts a container that was started, for the first time or again."""
        self._starts[again] += 1

    def render(self, gauges: "Gauges") -> bytes:
        """The page."""
        starts = (("restart" if again else "first", self._starts[again]) for again in (False, True))
        return page(
            counter(
                "probelet_container_kills_total",
                "Containers killed, by reason and source of grace.",
                sorted(self._kills.items()),
                "reason",
                "grace_source",
            ),
            counter("probelet_container_starts_total", "Containers started.", starts, "kind"),
            _pods(gauges),
            _manifests(gauges.mistakes),
            _waiting(gauges),
            gauges.execs.series(),
            counter(
                "probelet_events_dropped_total",
                "Events that were not kept, by what dropped them.",
                sorted(gauges.events_dropped.items()),
                "by",
            ),
        )


class Gauges(msgspec.Struct, frozen=True):
    """The numbers of other parts at the moment of the request."""

    pods: Mapping[str, int]
    """The number of pods by phase."""
    runtime_up: bool
    """Whether the runtime answered the last list."""
    execs: ExecCounts
    pulls_waiting: int
    """Containers that wait for the end of a pull's back-off."""
    events_dropped: Mapping[str, int]
    """Dropped events, by the part that dropped them."""
    aged: ContainerAge | None
    """``maxContainerAge``, where it is set."""
    mistakes: Mistakes
    """The mistakes of the newest manifests."""
    handed_over: int
    """Pods of other node agents."""


def _pods(gauges: Gauges) -> Iterator[str]:
    phases = ((phase, gauges.pods.get(phase, 0)) for phase in get_args(PodPhase))
    yield from gauge("probelet_pods", "Pods by phase.", phases, "phase")
    yield from gauge("probelet_pods_handed_over", "Pods of other node agents that are probed here.", gauges.handed_over)
    yield from gauge(
        "probelet_runtime_up", "Whether the runtime could be listed the last time.", int(gauges.runtime_up)
    )


def _manifests(mistakes: Mistakes) -> Iterator[str]:
    yield from gauge(
        "probelet_manifest_errors",
        "Mistakes in the newest versions of the manifests, by what they are about.",
        ((reason, mistakes.counts.get(reason, 0)) for reason in MISTAKES),
        "reason",
    )
    yield from gauge(
        "probelet_pods_outdated",
        "Pods of an earlier version of their manifest, because its newest one has a mistake.",
        len(mistakes.outdated),
    )


def _waiting(gauges: Gauges) -> Iterator[str]:
    yield from gauge(
        "probelet_image_pulls_waiting",
        "Containers that wait for the back-off of an image pull to be over.",
        gauges.pulls_waiting,
    )
    aged = gauges.aged
    yield from gauge(
        "probelet_containers_due_by_age",
        "Containers to be restarted for their age that wait, by what for (maxContainerAge).",
        (("budget", aged.waiting_for_budget if aged else 0), ("group", aged.waiting_for_group if aged else 0)),
        "waits_for",
    )
