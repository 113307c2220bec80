"""A pod of a cluster: its machine, the containers of the model that it has, and what was seen of it."""

from collections.abc import Callable
from typing import Final

from probelet.policy.protocol.actions import Action
from probelet.policy.protocol.inputs import Input, Terminate
from probelet.policy.rules.kind import containers
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.record import Exited, Kill, PodState, Span
from probelet.virtual.pod import NodeContext, VirtualPod
from probelet.virtual.runtime import PodRuntime

KILLED_FOR_MEMORY: Final = 137
"""The exit code of a container that the kernel killed for its memory."""


class ClusterPod:
    """A pod on its node. ``on_change`` is called after each step of it."""

    def __init__(self, pod: Pod, workload: str, node: str, version: int, on_change: Callable[["ClusterPod"], None]):
        self.pod = pod
        self.uid = pod.metadata.uid
        self.name = pod.metadata.name
        self.workload = workload
        """The workload's name."""
        self.node = node
        """The node's name."""
        self.version = version
        """The revision of the workload."""
        self.numbers: dict[str, int] = {}
        """The numbers of its containers in the model, by name."""
        self.is_ready = False
        """The condition Ready as the API server knows it."""
        self.ready_since = 0
        """When it became so, in nanoseconds."""
        self.has_kill_gate = False
        """Whether its liveness kills may wait."""
        self.is_terminating = False
        self.is_gone = False
        self.kills: list[Kill] = []
        self.exits: list[Exited] = []
        self.restarts = 0
        self._on_change = on_change
        self._machine: VirtualPod | None = None
        self._runtime: PodRuntime | None = None
        self._spans: list[tuple[PodState, int]] = []
        self._has_run = False
        self._was_ready = False

    @property
    def runtime(self) -> PodRuntime:
        """The runtime's model of the pod; it outlives a restart of the node's prober."""
        assert self._runtime is not None, "the pod is on its node"
        return self._runtime

    def appear(self, context: NodeContext) -> None:
        """The node's agent sees the pod: for the first time, or after its own restart."""
        self.has_kill_gate = context.kill_gate is not None
        pod = _Watched(self.pod, context, f"virtual://{self.uid}-", self._runtime, self._changed)
        self._machine, self._runtime = pod, pod.runtime
        pod.observe()
        if self.is_terminating:
            pod.handle(Terminate())

    def leave(self) -> None:
        """The node's agent ends."""
        if self._machine is not None:
            self._machine.leave(self._observe)
            self._machine = None

    def terminate(self) -> None:
        """The pod is deleted: its containers get their grace."""
        self.is_terminating = True
        if self._machine is not None:
            self._machine.handle(Terminate())
        self._changed()

    def exit(self, container_id: str, code: int, reason: str = "") -> None:
        """A container ends by itself; nothing happens if it does not run."""
        running = self.runtime.running(container_id)
        if running is None:
            return
        if self._machine is not None:
            self._machine.exit(container_id, code, reason)

    def running_id(self, container: str) -> str:
        """The id of a running container; empty without one."""
        newest = None if self._runtime is None else self._runtime.snapshot.newest(container)
        return "" if newest is None or self.runtime.running(newest.id) is None else newest.id

    def started(self) -> None:
        """A container has started."""
        self._has_run, self._was_ready = True, False

    def update_state(self, now: int, *, is_ready: bool) -> bool:
        """Take the condition Ready and note the pod's state; returns whether either has changed."""
        if is_ready != self.is_ready:
            self.is_ready, self.ready_since = is_ready, now
        self._was_ready |= is_ready
        newest = {record.name: record.restart_count for record in reversed(self.runtime.snapshot.containers)}
        self.restarts = max(self.restarts, sum(newest.values()))
        state = self._state()
        if self._spans and self._spans[-1][0] == state:
            return False
        if self._spans and self._spans[-1][1] == now:
            self._spans.pop()
        if not self._spans or self._spans[-1][0] != state:
            self._spans.append((state, now))
        return True

    @property
    def state(self) -> PodState:
        """The pod's state as it was noted last."""
        return self._spans[-1][0] if self._spans else "pending"

    def spans(self, now: int) -> list[Span]:
        """The pod's states until now; ``gone`` is the last one and has no length."""
        ends = [start for _, start in self._spans[1:]] + [now]
        last = self._spans[-1:]
        if last and last[0][0] == "gone":
            ends[-1] = last[0][1]
        found = zip(self._spans, ends, strict=True)
        return [Span(state, start / SECOND, end / SECOND) for (state, start), end in found]

    def _state(self) -> PodState:
        if self.is_gone:
            return "gone"
        if self.is_terminating:
            return "terminating"
        if self._machine is not None and self._machine.machine.waiting_restarts():
            return "back_off"
        if not self._has_run:
            return "pending"
        if self.is_ready:
            return "ready"
        return "unready" if self._was_ready else "starting"

    def _observe(self) -> None:
        """The runtime has changed without the present agent's doing."""
        if self._machine is not None:
            self._machine.observe()

    def _changed(self) -> None:
        self._on_change(self)


class _Watched(VirtualPod):
    """A pod that reports each step."""

    def __init__(
        self, pod: Pod, context: NodeContext, id_prefix: str, runtime: PodRuntime | None, on_step: Callable[[], None]
    ) -> None:
        super().__init__(pod, context, id_prefix, runtime)
        self._on_step = on_step

    def handle(self, given: Input) -> list[Action]:
        """Handles an input like ``VirtualPod.handle``."""
        actions = super().handle(given)
        self._on_step()
        return actions


def regular(pod: Pod) -> list[str]:
    """The names of a pod's regular containers."""
    return [container.name for kind, container in containers(pod) if kind == "regular"]
