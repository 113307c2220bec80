"""The node's own counters as Prometheus text. The engine counts and renders everything about probes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

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
        lines = _head("probelet_container_kills_total", "counter", "Containers killed, by reason and source of grace.")
        for (reason, source), count in sorted(self._kills.items()):
            lines.append(f'probelet_container_kills_total{{reason="{reason}",grace_source="{source}"}} {count}')
        lines += _head("probelet_container_starts_total", "counter", "Containers started.")
        for again in (False, True):
            kind = "restart" if again else "first"
            lines.append(f'probelet_container_starts_total{{kind="{kind}"}} {self._starts[again]}')
        lines += [*_pods(gauges), *_manifests(gauges.mistakes), *_pulls(gauges), *_age(gauges), *gauges.execs.series()]
        lines += _head("probelet_events_dropped_total", "counter", "Events that were not kept, by what dropped them.")
        dropped = sorted(gauges.events_dropped.items())
        lines += [f'probelet_events_dropped_total{{by="{by}"}} {count}' for by, count in dropped]
        return ("\n".join(lines) + "\n").encode()


@dataclass(frozen=True, slots=True)
class Gauges:
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


def _pods(gauges: Gauges) -> list[str]:
    lines = _head("probelet_pods", "gauge", "Pods by phase.")
    lines += [f'probelet_pods{{phase="{phase}"}} {gauges.pods.get(phase, 0)}' for phase in get_args(PodPhase)]
    lines += _head("probelet_pods_handed_over", "gauge", "Pods of other node agents that are probed here.")
    lines.append(f"probelet_pods_handed_over {gauges.handed_over}")
    lines += _head("probelet_runtime_up", "gauge", "Whether the runtime could be listed the last time.")
    lines.append(f"probelet_runtime_up {int(gauges.runtime_up)}")
    return lines


def _manifests(mistakes: Mistakes) -> list[str]:
    name = "probelet_manifest_errors"
    lines = _head(name, "gauge", "Mistakes in the newest versions of the manifests, by what they are about.")
    lines += [f'{name}{{reason="{reason}"}} {mistakes.counts.get(reason, 0)}' for reason in MISTAKES]
    name = "probelet_pods_outdated"
    lines += _head(name, "gauge", "Pods of an earlier version of their manifest, because its newest one has a mistake.")
    return [*lines, f"{name} {len(mistakes.outdated)}"]


def _pulls(gauges: Gauges) -> list[str]:
    name = "probelet_image_pulls_waiting"
    lines = _head(name, "gauge", "Containers that wait for the back-off of an image pull to be over.")
    return [*lines, f"{name} {gauges.pulls_waiting}"]


def _age(gauges: Gauges) -> list[str]:
    name = "probelet_containers_due_by_age"
    lines = _head(name, "gauge", "Containers to be restarted for their age that wait, by what for (maxContainerAge).")
    aged = gauges.aged
    waits = {"budget": aged.waiting_for_budget if aged else 0, "group": aged.waiting_for_group if aged else 0}
    lines += [f'{name}{{waits_for="{what}"}} {count}' for what, count in waits.items()]
    return lines


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
