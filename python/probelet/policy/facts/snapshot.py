"""The runtime as one sync sees it: a pod's sandboxes and containers, newest first.

Kubelet pkg/kubelet/container/runtime.go:PodStatus, 1.36. A snapshot is taken once per sync and does not change while
the sync acts on it; that is why a container killed by a sync still counts as running in the same sync.
"""

from enum import StrEnum

import msgspec


class State(StrEnum):
    """The state of a container in the runtime."""

    CREATED = "created"
    ENDED = "ended"
    """Listed as exited, but the runtime has not said how. Nothing kills it, and nothing follows from its end yet."""
    EXITED = "exited"
    RUNNING = "running"
    UNKNOWN = "unknown"


class ContainerRecord(msgspec.Struct, frozen=True):
    """One container instance; a restart makes another with the same ``name``.

    ``id`` is ``type://id``. ``*_at_ms`` are Unix milliseconds, 0 when unknown. ``finished_ns`` is the exit on the
    clock of ``now``, so that back-off never subtracts wall clocks; None while it has not exited or does not know.
    """

    id: str
    name: str
    state: State
    restart_count: int = 0
    created_at_ns: int = 0
    started_at_ms: int = 0
    finished_at_ms: int = 0
    finished_ns: int | None = None
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    definition: str = ""
    sandbox_id: str = ""


class SandboxRecord(msgspec.Struct, frozen=True):
    """One pod sandbox. ``ip`` is None when the runtime reports no network (host network)."""

    id: str
    ready: bool
    attempt: int = 0
    ip: str | None = ""
    created_at_ns: int = 0


class Snapshot(msgspec.Struct, frozen=True):
    """Everything the runtime has of one pod, newest first."""

    sandboxes: tuple[SandboxRecord, ...] = ()
    containers: tuple[ContainerRecord, ...] = ()

    def newest(self, name: str) -> ContainerRecord | None:
        """The newest instance of a container (kubelet ``FindContainerStatusByName``)."""
        return next((record for record in self.containers if record.name == name), None)

    def newest_exited(self, name: str) -> ContainerRecord | None:
        """The newest instance that has exited, which the crash-loop gate reads."""
        return next((r for r in self.containers if r.name == name and r.state is State.EXITED), None)

    def running(self) -> tuple[ContainerRecord, ...]:
        """Every running container, whatever its name."""
        return tuple(record for record in self.containers if record.state is State.RUNNING)

    def has_news(self, since: "Snapshot") -> bool:
        """Whether anything changed on which a sync would act.

        Not news: that a dead container was removed (kubelet ``isSyncPodWorthy``, 1.36), and a container that is only
        created, which a failed start leaves behind.
        """
        old: set[SandboxRecord | ContainerRecord] = {*since.sandboxes, *since.containers}
        new: set[SandboxRecord | ContainerRecord] = {*self.sandboxes, *self.containers}
        came = (c for c in new - old if not (isinstance(c, ContainerRecord) and c.state is State.CREATED))
        left = (c for c in old - new if (c.ready if isinstance(c, SandboxRecord) else c.state is State.RUNNING))
        return any(True for _ in came) or any(True for _ in left)

    @property
    def pod_ip(self) -> str:
        """The address of the newest sandbox while it is ready (kubelet ``GetPodStatus``), else empty."""
        newest = self.sandboxes[0] if self.sandboxes else None
        return newest.ip or "" if newest is not None and newest.ready else ""
