"""The load of one measurement."""

from dataclasses import dataclass
from typing import Literal

from probelet.lab.bench.place import Faulty, Place

Handler = Literal["http", "https", "tcp", "grpc", "exec"]

WORKERS_MAX = 1 << 18
"""The number of addresses by which a target can tell workers apart."""


@dataclass(frozen=True)
class Load:
    """Pods with one container and one readiness probe each, and the changes to them. Times are in seconds."""

    handler: Handler
    workers: int = 1000
    period: int = 1
    duration: float = 10
    warm: float = 2
    """Time between the last added pod and the start of the measurement."""
    faulty: Faulty | None = None
    burst: bool = False
    """Start all workers together, as when pods come to a running prober; otherwise spread them over a period."""
    churn: int = 0
    """Pods added and removed each second, in addition to the workers; they probe 127.0.0.1."""
    restarts: int = 0
    """Containers that get a new container ID each second."""
    phase: Literal["kubelet", "spread"] = "kubelet"
    """The times of the runs: as in the kubelet, or spread over the period whatever the pods' start."""

    wake_slack: float = 0
    """How late probes may be so that they share a wake-up."""

    def where(self, target: Place, worker: int) -> Place:
        return self.faulty.place if self.faulty and self.faulty.has(worker) else target
