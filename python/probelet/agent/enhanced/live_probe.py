"""One probe of the NodePodProbe while it is in the spec."""

from dataclasses import dataclass, field

from probelet.beside.probes.engine_pod import engine_id, engine_uid
from probelet.beside.probes.report import Report
from probelet.beside.probes.wanted import Wanted
from probelet.policy.facts.snapshot import ContainerRecord


@dataclass(slots=True)
class LiveProbe:
    """``number`` is its own for the life of the agent. ``report`` begins as what the object has, if that may stay."""

    wanted: Wanted
    number: int
    report: Report | None = None
    record: ContainerRecord | None = None
    """The instance that the engine has."""
    status: bytes = field(default=b"", repr=False)
    """The status that the engine has; empty while it has no worker."""
    is_warned: bool = False
    """Whether an event says why the probe cannot run."""
    refused: str = ""
    """Why the probe may not run now; empty for one that may."""
    event_ns: int | None = None
    """When the last event about its state was."""
    warning_ns: int | None = None
    """When the last event about a success with a warning was."""

    @property
    def engine_uid(self) -> str:
        """The UID of its pod in the engine."""
        return engine_uid(self.wanted.uid, self.number)

    def is_seen_by(self, container_id: str) -> bool:
        """Whether a worker whose container has this ID has seen the present instance."""
        return self.record is not None and container_id == engine_id(self.record.id, self.number)
