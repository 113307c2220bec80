"""What is asked of the prober in one measurement."""

from dataclasses import dataclass
from typing import Literal

from probelet.bench.place import Faulty, Place

Handler = Literal["http", "https", "tcp", "grpc", "exec"]

WORKERS_MAX = 1 << 18
"""As many as a target has addresses to tell them apart by."""


@dataclass(frozen=True)
class Load:
    """Pods of one container with one readiness probe each, and what happens to them. Times are in seconds."""

    handler: Handler
    workers: int = 1000
    period: int = 1
    duration: float = 10
    warm: float = 2
    """From the last pod added to the first probe that counts."""
    faulty: Faulty | None = None
    burst: bool = False
    """All workers in phase, as when pods come to a prober that has run for a while; otherwise spread over a period."""
    churn: int = 0
    """Pods added and removed each second, besides the workers; they probe 127.0.0.1."""
    restarts: int = 0
    """Containers that get another container ID each second."""
    phase: Literal["kubelet", "spread"] = "kubelet"
    """When first runs are: as a kubelet has them, or spread over the period whatever the pods' start."""

    def where(self, target: Place, worker: int) -> Place:
        return self.faulty.place if self.faulty and self.faulty.has(worker) else target
