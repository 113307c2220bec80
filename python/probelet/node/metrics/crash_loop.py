"""Metrics of crash loops for an operator, as Prometheus text. No label names a pod or container."""

from collections import Counter
from typing import Final

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.histogram import Histogram
from probelet.policy.node.restart_gate import ResetCause
from probelet.policy.protocol.effects import RestartCause
from probelet.spec.text.duration import SECOND

# The delays of both default curves, and bounds between and above them.
DELAY_BOUNDS: Final = (0, 1, 2, 4, 8, 10, 16, 20, 32, 40, 60, 80, 160, 300, 600)
# From the lateness of an exact timer to half of the kubelet's minute between two looks.
LATENESS_BOUNDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

_CAUSES: Final[tuple[RestartCause, ...]] = (
    "error",
    "exit0",
    "max_age",
    "oom",
    "other",
    "probe_liveness",
    "probe_startup",
)


class CrashLoopMetrics:
    """The ``Observer`` of a node's gate. The curve is the node's; ``source`` says where it comes from."""

    def __init__(self, initial_ns: int, max_ns: int, reset_ns: int, source: str = "default") -> None:
        numbers = [f"{value / SECOND:g}" for value in (initial_ns, max_ns, reset_ns)]
        self._config = (*numbers, source)
        self._restarts: Counter[tuple[RestartCause, bool]] = Counter()
        self._resets: Counter[ResetCause] = Counter()
        self._delays = Histogram(
            "probelet_crashloop_backoff_delay_seconds", "Restart delays that were waited for; 0 is none.", DELAY_BOUNDS
        )
        self._lateness = Histogram(
            "probelet_crashloop_restart_lateness_seconds",
            "From the end of a restart delay to the decision to start.",
            LATENESS_BOUNDS,
        )
        self._writes = 0

    def charged(self, delay_ns: int, late_ns: int | None) -> None:
        """Counts a restart that passed the gate."""
        self._delays.observe(delay_ns / SECOND)
        if late_ns is not None:
            self._lateness.observe(late_ns / SECOND)

    def forgotten(self, cause: ResetCause) -> None:
        """Counts a container whose delay begins anew."""
        self._resets[cause] += 1

    def restarted(self, cause: RestartCause, *, first: bool) -> None:
        """Counts a container that runs again."""
        self._restarts[cause, first] += 1

    def status_written(self) -> None:
        """Counts a pod's status that changed and would be written to an API server."""
        self._writes += 1

    def render(self, *, entries: int, waiting: int) -> bytes:
        """The page; ``entries`` containers have a delay, ``waiting`` of them wait."""
        restarts = (
            ((cause, str(first).lower()), self._restarts[cause, first]) for cause in _CAUSES for first in (False, True)
        )
        causes: tuple[ResetCause, ...] = ("gc", "operator", "ran_long")
        return page(
            counter(
                "probelet_crashloop_restarts_total",
                "Restarts by what ended the container before; first: no delay.",
                restarts,
                "reason",
                "first",
            ),
            self._delays.render(),
            self._lateness.render(),
            gauge("probelet_crashloop_containers_waiting", "Containers that wait to be restarted.", waiting),
            gauge("probelet_crashloop_backoff_entries", "Containers with a restart delay, waiting or not.", entries),
            counter(
                "probelet_crashloop_backoff_resets_total",
                "Restart delays that began anew, by cause.",
                ((cause, self._resets[cause]) for cause in causes),
                "cause",
            ),
            gauge(
                "probelet_crashloop_config_info",
                "The restart delays of this node, in seconds.",
                [(self._config, 1)],
                "initial",
                "cap",
                "reset",
                "source",
            ),
            counter(
                "probelet_crashloop_status_updates_total", "Pod statuses that differ from the one before.", self._writes
            ),
        )
