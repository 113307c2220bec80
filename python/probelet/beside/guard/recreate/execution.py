"""The requests for one pod as the executor of its node knows them: which one is next, and what ``execute`` reads."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.recreate.execute import pick, waiting
from probelet.beside.guard.recreate.progress import Progress, listed
from probelet.beside.guard.recreate.situation import Instance, ObservedPod
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State

_STATES: Final[dict[State, Literal["created", "running", "exited", "unknown"]]] = {
    State.CREATED: "created",
    State.RUNNING: "running",
    State.ENDED: "exited",
    State.EXITED: "exited",
    State.UNKNOWN: "unknown",
}


@dataclass(slots=True, eq=False)
class Execution:
    """A request with what its executor has done about it.

    ``request``: its newest version. ``progress``: how far it is; ``written``: what the API server has of that.
    ``seen_ns``: since when the executor knows it, ``drained_ns``: since when it knows that the pod is out of service.
    ``killed``: the instance of each container that was killed for it; ``failures``: the errors of kills that failed, by
    container.
    """

    request: RecreateRequest
    seen_ns: int
    progress: Progress
    written: Progress
    killed: dict[str, str]
    drained_ns: int | None = None
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: RecreateRequest, killed: dict[str, str], now: int) -> "Execution":
        """A request that the executor sees for the first time; ``killed`` is what an earlier executor has noted."""
        known = Progress.of(request)
        made = cls(request, now, known, known, killed)
        made.update(request, now)
        return made

    def update(self, request: RecreateRequest, now: int) -> None:
        """Stores a newer version of the request."""
        self.request = request
        if request.unready_acquired and self.drained_ns is None:
            self.drained_ns = now

    def begin_kill(self, container: str, id: str) -> None:
        """Records that an instance is being killed for the request."""
        self.killed = {**self.killed, container: id}
        self.failures.pop(container, None)

    def instances(self, snapshot: Snapshot) -> dict[str, Instance]:
        """The newest instance of each container of the request."""
        found = ((each.name, snapshot.newest(each.name)) for each in self.request.containers)
        return {name: _instance(record) for name, record in found if record is not None}

    def observed(
        self, snapshot: Snapshot, killing: Set[str], now: int, *, wall_ms: int, runtime: str, is_up: bool
    ) -> ObservedPod:
        """The pod as ``execute`` reads it. ``killing``: the instances that are being killed, for whatever reason;
        ``is_up``: the API server answers."""
        return ObservedPod(
            instances=self.instances(snapshot),
            killing=killing,
            killed=self.killed,
            failures=self.failures,
            seen_ns=now - self.seen_ns,
            drained_ns=None if self.drained_ns is None else now - self.drained_ns,
            wall_ms=wall_ms,
            runtime=runtime,
            may_begin=is_up and self.written.phase == self.progress.phase,
        )

    def status(self, now: str) -> dict[str, Any]:
        """``progress`` as the status of the request; ``now`` becomes the completion time."""
        status: dict[str, Any] = {"phase": self.progress.phase}
        if self.progress.states:
            status["containerRecreateStates"] = listed(self.progress.states)
        if self.progress.is_completed:
            status |= {"completionTime": now, "message": self.progress.message}
        return status


def next_execution(executions: Iterable[Execution]) -> Execution | None:
    """The one that is carried out now. The others of the same pod wait for it, and their progress says so."""
    by_uid = {each.request.uid: each for each in executions}
    picked, others = pick((each.request, each.progress) for each in by_uid.values())
    for other in others:
        by_uid[other.uid].progress = waiting(by_uid[other.uid].progress)
    return None if picked is None else by_uid[picked.uid]


def _instance(record: ContainerRecord) -> Instance:
    return Instance(record.id, _STATES[record.state], record.restart_count, record.started_at_ms)
