"""A node in virtual time: the production machine of each pod, and a runtime that does what it is told.

Nothing is random, and nothing takes time but what the scene says: runs, start costs, delays, the API client's limit.
"""

import heapq
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from probelet.policy.action import (
    Action,
    Arm,
    CreateContainer,
    Due,
    Effect,
    Input,
    KillContainer,
    Observed,
    Outcome,
    Perform,
    Performed,
    Publish,
    RemoveContainer,
    RunSandbox,
    StartContainer,
    SyncRequested,
)
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.lifecycle import PodMachine
from probelet.policy.restart import definition
from probelet.policy.snapshot import ContainerRecord, SandboxRecord, Snapshot, State
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import MILLISECOND
from probelet.stress.gate import ObservedGate
from probelet.stress.outcome import Memory
from probelet.stress.pods import STAYING, make_pod, status_key
from probelet.stress.scene import Scene
from probelet.stress.sink import ApiSink

KILLED = 137


class VirtualNode:
    """The pods of a scene. ``run`` plays them to a time; ``gate`` and ``sink`` are what came of it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.now = 0
        self.gate = ObservedGate(scene.shape)
        self.sink = ApiSink(scene.api_qps)
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        self._writes_at: int | None = None
        self._pods = [VirtualPod(self, make_pod(scene, n, []), scene.exit_code(n)) for n in range(scene.pods)]
        for number, pod in enumerate(self._pods):
            self.at(scene.spread_ns * number // scene.pods, pod.begin)

    def at(self, moment: int, do: Callable[[], None]) -> None:
        """Do this then, in the order of asking."""
        self._order += 1
        heapq.heappush(self._queue, (moment, self._order, do))

    def run(self, until_ns: int) -> None:
        """Play on, what is due at the end included."""
        while self._queue and self._queue[0][0] <= until_ns:
            self.now, _, do = heapq.heappop(self._queue)
            do()
        self.now = until_ns

    def end(self) -> Memory:
        """Take all pods away; what the node had kept of them, and what is left of it in the end."""
        entries, timers = self.gate.entries(self.now), sum(pod.waits for pod in self._pods)
        for pod in self._pods:
            self.gate.forget(pod.pod, self.now)
        return Memory(entries, self.gate.left_after_housekeeping(self.now), timers)

    def publish(self, pod: str, status: object) -> None:
        """A pod has set its status."""
        self.sink.offer(self.now, pod, status)
        if self._writes_at is None:
            self._write()

    def _write(self) -> None:
        self._writes_at = self.sink.write(self.now)
        if self._writes_at is not None:
            self.at(self._writes_at, self._write)


class VirtualPod:
    """One pod: its machine, and what the runtime has of it."""

    def __init__(self, node: VirtualNode, pod: Pod, exit_code: int) -> None:
        self._node = node
        self.pod = pod
        self._exit_code = exit_code
        # The containers whose liveness probe has failed, by id, and those that run, by name.
        self._failed: set[str] = set()
        self._running: frozenset[str] = frozenset()
        self._machine = PodMachine(pod, node.gate)
        self._snapshot = Snapshot()
        self._deadline: int | None = None
        self._made = 0

    @property
    def waits(self) -> bool:
        """Whether it has a deadline."""
        return self._deadline is not None

    def begin(self) -> None:
        """The pod is added."""
        self._give(Observed(self._snapshot))

    def _give(self, given: Input) -> None:
        for action in self._machine.handle(self._node.now, given, self._probe_state()):
            self._do(action)

    def _probe_state(self) -> ProbeState:
        """No container has a startup probe, so each has started as soon as it runs."""
        return ProbeState({("liveness", container_id): "Failure" for container_id in self._failed}, self._running)

    def _do(self, action: Action) -> None:
        node = self._node
        match action:
            case Perform():
                starts = any(isinstance(effect, StartContainer) for effect in action.effects)
                takes = node.scene.start_cost_ns if starts else 0
                node.at(node.now + takes, lambda: self._perform(action))
            case Publish():
                self._running = frozenset(n for n, status in action.containers.items() if status.state == "running")
                node.publish(self.pod.metadata.uid, status_key(action.phase, action.pod_ip, action.containers))
            case Arm(deadline):
                self._deadline = deadline
                if deadline is not None:
                    node.at(max(deadline, node.now), lambda: self._due(deadline))
            case _:
                pass

    def _due(self, deadline: int) -> None:
        if self._deadline == deadline:
            self._deadline = None
            self._give(Due())

    def _perform(self, perform: Perform) -> None:
        outcomes = tuple(self._effect(effect) for effect in perform.effects)
        self._give(Performed(perform.ticket, outcomes, self._snapshot))

    def _effect(self, effect: Effect) -> Outcome:
        match effect:
            case RunSandbox(attempt):
                self._snapshot = replace(self._snapshot, sandboxes=(SandboxRecord("s", True, attempt, "10.0.0.1"),))
                return Outcome(id="s")
            case CreateContainer():
                return Outcome(id=self._create(effect))
            case StartContainer(name, container_id):
                self._start(name, container_id)
            case KillContainer(_, container_id):
                self._exit(container_id, KILLED)
            case RemoveContainer(_, container_id):
                left = tuple(record for record in self._snapshot.containers if record.id != container_id)
                self._snapshot = replace(self._snapshot, containers=left)
            case _:
                pass
        return Outcome()

    def _create(self, effect: CreateContainer) -> str:
        self._made += 1
        made = ContainerRecord(
            id=f"v://{self._made}",
            name=effect.container.name,
            state=State.CREATED,
            restart_count=effect.restart_count,
            created_at_ns=self._node.now,
            definition=definition(effect.container),
            sandbox_id="s",
        )
        self._snapshot = replace(self._snapshot, containers=(made, *self._snapshot.containers))
        return made.id

    def _start(self, name: str, container_id: str) -> None:
        node, scene = self._node, self._node.scene
        self._change(container_id, state=State.RUNNING, started_at_ms=node.now // MILLISECOND)
        if name == STAYING:
            return
        if scene.kill_ns:
            node.at(node.now + scene.kill_ns, lambda: self._fail(container_id))
        else:
            node.at(node.now + scene.run_ns, lambda: self._end(container_id))

    def _fail(self, container_id: str) -> None:
        self._failed.add(container_id)
        self._give(SyncRequested())

    def _end(self, container_id: str) -> None:
        self._exit(container_id, self._exit_code)
        self._give(Observed(self._snapshot))

    def _exit(self, container_id: str, code: int) -> None:
        self._failed.discard(container_id)
        self._change(
            container_id,
            state=State.EXITED,
            finished_ns=self._node.now,
            finished_at_ms=self._node.now // MILLISECOND,
            exit_code=code,
            reason="Error" if code else "Completed",
        )

    def _change(self, container_id: str, **fields: Any) -> None:
        changed = (
            replace(record, **fields) if record.id == container_id else record for record in self._snapshot.containers
        )
        self._snapshot = replace(self._snapshot, containers=tuple(changed))
