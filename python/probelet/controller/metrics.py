"""The controller's own metrics. Labels are few: a workload has series only while restarts of it wait or happen."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from probelet.base.exposition.histogram import Histogram
from probelet.base.exposition.process_metrics import render_process
from probelet.beside.guard.restart.protocol.outputs import Finished, Gauges
from probelet.beside.guard.restart.protocol.reason import REASONS
from probelet.beside.guard.restart.state.workloads import WorkloadKey
from probelet.spec.text.duration import SECOND

DECISIONS: Final = "probelet_elp_decisions_total"
QUEUE: Final = "probelet_elp_queue_depth"
TOKENS: Final = "probelet_elp_tokens"
IN_FLIGHT: Final = "probelet_elp_inflight"
DURATION: Final = "probelet_elp_crr_duration_seconds"
BREAKERS: Final = "probelet_elp_breaker_open"
WRITES: Final = "probelet_elp_writes_total"
LEADER: Final = "probelet_elp_leader"
GIVEN_UP: Final = "probelet_elp_recreate_requests_given_up_total"
CONFIGURED: Final = "probelet_elp_configuration_valid"

BOUNDS: Final = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
"""Seconds from a request to its completion: the grace period, a start, and at most the request's deadline."""

WORKLOADS_MAX: Final = 100
"""Workloads with series of their own; the others add up under ``other``."""

REASONS_TO_GIVE_UP: Final = ("Deadline", "NotAnswered", "PodGone")
"""Why the manager ends a request that its node has not ended."""


class ControllerMetrics:
    """Counts of one process."""

    def __init__(self) -> None:
        self.is_leader = False
        self.is_configured = True
        """Whether the ConfigMap, if there is one, can be read."""
        self._decisions: Counter[str] = Counter({reason: 0 for reason in REASONS})
        self._writes: Counter[str] = Counter()
        self._given_up: Counter[str] = Counter({reason: 0 for reason in REASONS_TO_GIVE_UP})
        self._times = Histogram(DURATION, "From the creation of a ContainerRecreateRequest to its completion.", BOUNDS)

    def decided(self, reason: str) -> None:
        """Counts one decision."""
        self._decisions[reason] += 1

    def wrote(self, resource: str, verb: str, outcome: str) -> None:
        """Counts one write to the API server."""
        self._writes[f'resource="{resource}",verb="{verb}",outcome="{outcome}"'] += 1

    def gave_up(self, reason: str) -> None:
        """Counts a request, of ours or of a user, that ended without its node."""
        self._given_up[reason] += 1

    def finished(self, finished: Finished) -> None:
        """Counts a request of ours that has completed."""
        result = "succeeded" if finished.has_succeeded else "failed"
        self._times.observe(finished.duration_ns / SECOND, f'result="{result}"')

    def render(self, gauges: Gauges | None) -> bytes:
        """The page in the Prometheus text format. ``gauges`` None: this process does not lead."""
        lines = _head(DECISIONS, "counter", "Decisions about failed probes, by reason.")
        lines += [f'{DECISIONS}{{reason="{reason}"}} {count}' for reason, count in self._decisions.items()]
        lines += _head(WRITES, "counter", "Writes of enhanced liveness to the API server.")
        lines += [f"{WRITES}{{{labels}}} {count}" for labels, count in sorted(self._writes.items())]
        lines += _head(GIVEN_UP, "counter", "ContainerRecreateRequests that ended without their node, by reason.")
        lines += [f'{GIVEN_UP}{{reason="{reason}"}} {count}' for reason, count in self._given_up.items()]
        lines += self._times.render()
        lines += _head(LEADER, "gauge", "Whether this process decides.")
        lines.append(f"{LEADER} {int(self.is_leader)}")
        lines += _head(CONFIGURED, "gauge", "Whether the ConfigMap can be read.")
        lines.append(f"{CONFIGURED} {int(self.is_configured)}")
        if gauges is not None:
            lines += _gauges(gauges)
        return ("\n".join(lines) + "\n").encode() + render_process()


def _gauges(gauges: Gauges) -> list[str]:
    lines = _head(TOKENS, "gauge", "Restarts that may begin at once.")
    lines.append(f"{TOKENS} {gauges.tokens}")
    lines += _head(BREAKERS, "gauge", "Workloads and nodes of which too many pods fail at once.")
    lines.append(f'{BREAKERS}{{scope="workload"}} {gauges.open_workloads}')
    lines.append(f'{BREAKERS}{{scope="node"}} {gauges.open_nodes}')
    lines += _head(QUEUE, "gauge", "Restarts that wait for a token.")
    lines += _of_workloads(QUEUE, gauges.queued)
    lines += _head(IN_FLIGHT, "gauge", "Restarts under way.")
    return lines + _of_workloads(IN_FLIGHT, gauges.in_flight)


def _of_workloads(name: str, counts: Mapping[WorkloadKey, int]) -> list[str]:
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [f'{name}{{workload="{key}"}} {count}' for key, count in listed[:WORKLOADS_MAX]]
    if rest := sum(count for _, count in listed[WORKLOADS_MAX:]):
        lines.append(f'{name}{{workload="other"}} {rest}')
    return lines


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
