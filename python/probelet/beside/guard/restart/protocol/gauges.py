"""The state of the restart decision in numbers, for the metric page."""

from collections.abc import Mapping
from dataclasses import dataclass

from probelet.beside.guard.restart.state.workloads import WorkloadKey


@dataclass(frozen=True, slots=True)
class Gauges:
    """Numbers at one moment."""

    tokens: int
    queued: Mapping[WorkloadKey, int]
    """Restarts that wait for a token, by workload."""
    in_flight: Mapping[WorkloadKey, int]
    """Restarts under way, by workload."""
    open_workloads: int
    open_nodes: int
    """How many workloads and nodes have their breaker open."""
