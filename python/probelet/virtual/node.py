"""The pods of a node in virtual time."""

from collections.abc import Callable

from probelet.policy.node.kill_gate import KillGate
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.actions import Publish, Record
from probelet.spec.model.pod import Pod
from probelet.virtual.agenda import Agenda, play
from probelet.virtual.pod import NodeContext, VirtualPod
from probelet.virtual.prober import Prober
from probelet.virtual.workload import Workload


class SimulatedNode:
    """Pods on one clock, one prober and one restart gate.

    ``on_publish`` gets each pod status and ``on_record`` each event of a pod's machine, with the pod's UID. ``agenda``
    is the clock, a new one by default; ``kill_gate`` holds liveness kills.
    """

    def __init__(
        self,
        prober: Prober,
        gate: RestartGate,
        workload: Workload,
        on_publish: Callable[[str, Publish], None] | None = None,
        on_record: Callable[[str, Record], None] | None = None,
        agenda: Agenda | None = None,
        kill_gate: KillGate | None = None,
    ) -> None:
        self.agenda = Agenda() if agenda is None else agenda
        self.pods: dict[str, VirtualPod] = {}
        """By UID, in the order in which they were added."""
        self._prober = prober
        self._context = NodeContext(
            self.agenda, prober, gate, workload, kill_gate=kill_gate, on_publish=on_publish, on_record=on_record
        )

    def add(self, pod: Pod, at_ns: int = 0) -> VirtualPod:
        """Add a pod that the node sees for the first time at ``at_ns``."""
        made = self.pods[pod.metadata.uid] = VirtualPod(pod, self._context, f"virtual://{pod.metadata.uid}-")
        self.agenda.at(at_ns, made.observe)
        return made

    def run_until(self, until_ns: int) -> None:
        """Play on until ``until_ns``, including everything due at that moment."""
        play(self.agenda, self._prober, until_ns)
