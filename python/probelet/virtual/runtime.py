"""A model of the container runtime: the sandboxes and containers of one pod.

It only holds state. The workload says how long a call takes and whether it fails.
"""

from typing import Any, Final

from msgspec.structs import replace

from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, Snapshot, State
from probelet.policy.protocol.effects import CreateContainer
from probelet.policy.rules.restart import definition
from probelet.spec.text.duration import MILLISECOND

KILLED: Final = 137
"""The exit code of a container that was killed, whether it ended at SIGTERM or at SIGKILL."""

POD_IP: Final = "10.0.0.1"


class PodRuntime:
    """The runtime's state of one pod; ``snapshot`` is its answer to a list.

    A container is called by ``id_prefix``, its name and its restart count.
    """

    def __init__(self, id_prefix: str) -> None:
        self.snapshot = Snapshot()
        self._id_prefix = id_prefix

    def run_sandbox(self, attempt: int) -> str:
        """RunPodSandbox; returns the sandbox's id."""
        made = SandboxRecord(f"s{attempt}", True, attempt, POD_IP)
        self.snapshot = replace(self.snapshot, sandboxes=(made, *self.snapshot.sandboxes))
        return made.id

    def stop_sandbox(self, sandbox_id: str) -> None:
        """StopPodSandbox: it is not ready any more. Its containers have been stopped before."""
        boxes = tuple(replace(box, ready=box.ready and box.id != sandbox_id) for box in self.snapshot.sandboxes)
        self.snapshot = replace(self.snapshot, sandboxes=boxes)

    def remove_sandbox(self, sandbox_id: str) -> None:
        """RemovePodSandbox."""
        left = tuple(box for box in self.snapshot.sandboxes if box.id != sandbox_id)
        self.snapshot = replace(self.snapshot, sandboxes=left)

    def create(self, effect: CreateContainer, now: int) -> str:
        """CreateContainer; returns the container's id."""
        made = ContainerRecord(
            id=f"{self._id_prefix}{effect.container.name}-{effect.restart_count}",
            name=effect.container.name,
            state=State.CREATED,
            restart_count=effect.restart_count,
            created_at_ns=now,
            definition=definition(effect.container),
            sandbox_id=effect.sandbox_id,
        )
        self.snapshot = replace(self.snapshot, containers=(made, *self.snapshot.containers))
        return made.id

    def start(self, container_id: str, now: int) -> None:
        """StartContainer.

        A record's 0 stands for an unknown time, so a start at 0 is shown a millisecond late; the prober's status layer
        cuts the time to whole seconds.
        """
        self._change(container_id, state=State.RUNNING, started_at_ms=max(1, now // MILLISECOND))

    def exit(self, container_id: str, code: int, now: int, reason: str = "") -> bool:
        """A container ends; says whether it was running. ``reason`` is the runtime's, if the code does not say it."""
        if all(record.id != container_id for record in self.snapshot.running()):
            return False
        self._change(
            container_id,
            state=State.EXITED,
            finished_ns=now,
            finished_at_ms=now // MILLISECOND,
            exit_code=code,
            reason=reason or ("Error" if code else "Completed"),
        )
        return True

    def remove(self, container_id: str) -> None:
        """RemoveContainer."""
        left = tuple(record for record in self.snapshot.containers if record.id != container_id)
        self.snapshot = replace(self.snapshot, containers=left)

    def running(self, container_id: str) -> ContainerRecord | None:
        """The running container with this id; None if there is none."""
        return next((record for record in self.snapshot.running() if record.id == container_id), None)

    def _change(self, container_id: str, **fields: Any) -> None:
        changed = (
            replace(record, **fields) if record.id == container_id else record for record in self.snapshot.containers
        )
        self.snapshot = replace(self.snapshot, containers=tuple(changed))
