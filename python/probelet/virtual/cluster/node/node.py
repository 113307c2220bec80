"""A node: a prober and a restart gate of its own, and the pods that they act on."""

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from probelet._rust import ClusterModel, Simulation
from probelet.policy.glue.status_layer import status_of
from probelet.policy.incidents import Subject
from probelet.policy.node.kill_gate import HoldOptions
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.actions import Record
from probelet.spec.model.pod import Pod, PodCondition, PodStatus
from probelet.virtual.agenda import Agenda
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.node.prober import GuardedProber
from probelet.virtual.holding import NodeHolding
from probelet.virtual.pod import NodeContext
from probelet.virtual.prober import Line
from probelet.virtual.workload import Workload


class Watch(msgspec.Struct, frozen=True):
    """The callbacks of a node; each gets the pod's UID first."""

    record: Callable[[str, Record], None]
    """An event of a pod's machine."""
    line: Callable[[str, Line], None]
    """A line of the simulation, with its section first."""
    forget: Callable[[str], None]
    """Nothing of the pod is left."""
    is_guarded: Callable[[], bool]
    """Whether liveness results are for enhanced liveness and not for the node's agent. Has no UID."""
    killed: Callable[[str, str], None]
    """A liveness kill goes on that might have waited; the container comes second."""
    subjects: Callable[[ClusterPod], Iterable[Subject]]
    """Returns the probes of a pod for the detector of incidents. Has the pod, not its UID."""


class Node:
    """A node of a cluster. ``seed`` is of the jitter of first probes."""

    def __init__(
        self,
        name: str,
        agenda: Agenda,
        workload: Workload,
        watch: Watch,
        *,
        seed: int,
        kubelet_version: str,
        hold: HoldOptions,
    ) -> None:
        self.name = name
        self.pods: dict[str, ClusterPod] = {}
        """The pods on the node, by UID."""
        self._agenda = agenda
        self._workload = workload
        self._watch = watch
        self._seed = seed
        self._kubelet_version = kubelet_version
        self._restarts = 0
        self._gate = RestartGate()
        self._simulation = self._new_simulation(None, None)
        self._prober = GuardedProber(self._simulation, watch.line, watch.is_guarded)
        self._hold = hold
        self.holding: NodeHolding | None = None
        """Notices incidents and holds kills; None while no pod asks for that."""
        self._context: NodeContext | None = self._new_context()
        if hold.choice != "off":
            self.begin_holding()

    @property
    def simulation(self) -> Simulation:
        """The prober as it is now."""
        return self._simulation

    def add(self, pod: ClusterPod) -> None:
        """A pod is bound to the node."""
        self.pods[pod.uid] = pod
        if self.holding is not None:
            self.holding.know(self._watch.subjects(pod), pod.version)
        if self._context is not None:
            pod.appear(self._context)

    def begin_holding(self) -> None:
        """From now on incidents are noticed on this node, and the kills of pods that come may wait."""
        if self.holding is not None:
            return
        self.holding = holding = NodeHolding(self._agenda, self._hold, self._watch.killed)
        for pod in self.pods.values():
            if not pod.is_terminating:
                holding.know(self._watch.subjects(pod), pod.version)
        self._prober.watch_turns(holding.turn)
        if self._context is not None:
            self._context = self._new_context()

    def act(self) -> None:
        """Act on what the simulation has written."""
        lines = self._simulation.take_changes()
        if self._context is not None and lines != b"[]":
            self._prober.act_on(lines)

    def is_ready(self, uid: str) -> bool:
        """The condition Ready of a pod in the status that the prober last set."""
        return bool(status_of(self._simulation, uid).get("ready"))

    @property
    def is_down(self) -> bool:
        """Whether its prober is being restarted."""
        return self._context is None

    def stop_prober(self) -> None:
        """The prober ends with its node agent: from here on nobody plays its simulation. Containers run on."""
        self._context = None
        for pod in self.pods.values():
            pod.leave()

    def start_prober(self, now_ns: int, *, restore: bool) -> None:
        """A new prober begins with the pods that the API server has; ``restore``: with what the last one knew."""
        self._restarts += 1
        if not restore:
            self._gate = RestartGate()
        self._simulation = self._new_simulation(now_ns, self._simulation if restore else None)
        self._prober = GuardedProber(self._simulation, self._watch.line, self._watch.is_guarded)
        self._context = self._new_context()
        if self.holding is not None:
            self.holding = None
            self.begin_holding()
        for pod in self.pods.values():
            pod.pod = _as_the_api_has_it(pod.pod, is_ready=pod.is_ready)
            pod.appear(self._context)

    def _new_simulation(self, starts_ns: int | None, earlier: Simulation | None) -> Simulation:
        return ClusterModel.simulation(
            seed=(self._seed + self._restarts) % 2**64,
            kubelet_version=self._kubelet_version,
            starts_ns=starts_ns,
            recall=earlier,
        )

    def _new_context(self) -> NodeContext:
        return NodeContext(
            self._agenda,
            self._prober,
            self._gate,
            self._workload,
            kill_gate=None if self.holding is None else self.holding.gate,
            on_record=self._watch.record,
            on_forget=self._watch.forget,
        )


def _as_the_api_has_it(pod: Pod, *, is_ready: bool) -> Pod:
    """The pod with the condition Ready of its status, which a node agent reads when it starts."""
    ready = PodCondition(type="Ready", status="True" if is_ready else "False")
    return replace(pod, status=replace(pod.status or PodStatus(), conditions=[ready]))
