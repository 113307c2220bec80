"""One instance of a container: its life as the runtime tells it, and the notes of the target in it."""

from dataclasses import dataclass, field
from typing import Any

from tests.kubelet.beside.sides.agent import SUFFIX

Note = dict[str, Any]
PROBES = ("http", "grpc", "exec", "tcp")


@dataclass
class Instance:
    """Moments are seconds since 1970; 0 is a moment that has not come."""

    id: str
    pod: str
    uid: str
    container: str
    attempt: int
    status: dict[str, Any]
    sandbox: str = ""
    spec: dict[str, Any] = field(default_factory=dict)
    """The OCI spec."""
    notes: list[Note] = field(default_factory=list)
    ended: tuple[float, int] | None = None
    """Moment and code of the exit, from the runtime's events."""
    began: float = 0.0
    """The first note, if the status was never seen after the start."""

    @classmethod
    def of(cls, status: dict[str, Any]) -> "Instance":
        labels = status["labels"]
        pod, uid = labels["io.kubernetes.pod.name"].removesuffix(SUFFIX), labels["io.kubernetes.pod.uid"]
        name, attempt = labels["io.kubernetes.container.name"], status["metadata"].get("attempt", 0)
        return cls(status["id"], pod, uid, name, attempt, status)

    def _moment(self, name: str) -> float:
        return int(self.status.get(name, 0)) / 1e9

    @property
    def created(self) -> float:
        return self._moment("created_at")

    @property
    def started(self) -> float:
        return self._moment("started_at") or self.began

    @property
    def finished(self) -> float:
        return self._moment("finished_at") or (self.ended[0] if self.ended else 0.0)

    @property
    def exit_code(self) -> int:
        if not self._moment("finished_at") and self.ended:
            return self.ended[1]
        return int(self.status.get("exit_code", 0))

    @property
    def reason(self) -> str:
        return str(self.status.get("reason") or ("Error" if self.exit_code else "Completed"))

    def probes(self) -> dict[str, list[Note]]:
        """The notes of each probe and hook by its kind and name."""
        found: dict[str, list[Note]] = {}
        for note in self.notes:
            if note["what"] in PROBES:
                found.setdefault(f"{note['what']} {note['name']}", []).append(note)
        return found


def at(note: Note) -> float:
    """The moment of a note."""
    return float(note["at"]) / 1e9
