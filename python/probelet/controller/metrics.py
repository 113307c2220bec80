"""The controller's own metrics. Labels are few: a workload has series only while restarts of it wait or happen."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from probelet.base.exposition.family import counter, gauge, page
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
HELD: Final = "probelet_elp_held_seconds"
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
        self._writes: Counter[tuple[str, str, str]] = Counter()
        self._given_up: Counter[str] = Counter({reason: 0 for reason in REASONS_TO_GIVE_UP})
        self._times = Histogram(
            DURATION, "From the creation of a ContainerRecreateRequest to its completion.", BOUNDS, "result"
        )

    def decided(self, reason: str) -> None:
        """Counts one decision."""
        self._decisions[reason] += 1

    def wrote(self, resource: str, verb: str, outcome: str) -> None:
        """Counts one write to the API server."""
        self._writes[resource, verb, outcome] += 1

    def gave_up(self, reason: str) -> None:
        """Counts a request, of ours or of a user, that ended without its node."""
        self._given_up[reason] += 1

    def finished(self, finished: Finished) -> None:
        """Counts a request of ours that has completed."""
        self._times.observe(finished.duration_ns / SECOND, "succeeded" if finished.has_succeeded else "failed")

    def render(self, gauges: Gauges | None) -> bytes:
        """The page in the Prometheus text format. ``gauges`` None: this process does not lead."""
        own = page(
            counter(DECISIONS, "Decisions about failed probes, by reason.", self._decisions.items(), "reason"),
            counter(
                WRITES,
                "Writes of enhanced liveness to the API server.",
                sorted(self._writes.items()),
                "resource",
                "verb",
                "outcome",
            ),
            counter(
                GIVEN_UP,
                "ContainerRecreateRequests that ended without their node, by reason.",
                self._given_up.items(),
                "reason",
            ),
            self._times.render(),
            gauge(LEADER, "Whether this process decides.", int(self.is_leader)),
            gauge(CONFIGURED, "Whether the ConfigMap can be read.", int(self.is_configured)),
            () if gauges is None else _gauges(gauges),
        )
        return own + render_process()


def _gauges(gauges: Gauges) -> Iterator[str]:
    yield from gauge(TOKENS, "Restarts that may begin at once.", gauges.tokens)
    breakers = (("workload", gauges.open_workloads), ("node", gauges.open_nodes))
    yield from gauge(BREAKERS, "Workloads and nodes whose breaker is open.", breakers, "scope")
    held = ((reason, f"{ns / SECOND:.3f}") for reason, ns in gauges.held.items())
    text = "For how long the failed probe has failed that has waited longest for its restart, by what holds it."
    yield from gauge(HELD, text, held, "reason")
    yield from gauge(QUEUE, "Restarts that wait for a token.", _by_workload(gauges.queued), "workload")
    yield from gauge(IN_FLIGHT, "Restarts under way.", _by_workload(gauges.in_flight), "workload")


def _by_workload(counts: Mapping[WorkloadKey, int]) -> Iterator[tuple[str, int]]:
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    yield from ((str(key), count) for key, count in listed[:WORKLOADS_MAX])
    if rest := sum(count for _, count in listed[WORKLOADS_MAX:]):
        yield "other", rest
