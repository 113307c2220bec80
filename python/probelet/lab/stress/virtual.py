"""A scene on a node in virtual time.

Nothing is random, and only the parts that the scene names take time: runs, start costs, delays, the API client's limit.
"""

from typing import Final

from probelet._rust import Simulation
from probelet.lab.stress.gate import ObservedGate
from probelet.lab.stress.outcome import Memory
from probelet.lab.stress.pods import STAYING, make_pod, pod_name, pod_number, status_key
from probelet.lab.stress.scene import Scene
from probelet.lab.stress.sink import ApiSink
from probelet.policy.protocol.actions import Publish
from probelet.policy.protocol.effects import Effect, StartContainer
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.node import SimulatedNode
from probelet.virtual.prober import GivenResults, Prober, SimulatedProber
from probelet.virtual.workload import Workload

FAILURE: Final = b'[{"outcome": "failure", "delay_ms": 0}]'


class SceneNode(SimulatedNode):
    """The pods of a scene. ``gate`` and ``sink`` log its starts and its status writes."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.gate = ObservedGate(scene.shape)
        self.sink = ApiSink(scene.api_qps)
        self._write_is_due = False
        super().__init__(_prober(scene), self.gate, SceneWorkload(scene), self._published)
        for number in range(scene.pods):
            # The prober counts in milliseconds: it would probe a pod early that was added between two of them.
            offset = scene.spread_ns * number // scene.pods
            self.add(make_pod(scene, number, []), offset // MILLISECOND * MILLISECOND)

    def end(self) -> Memory:
        """Remove all pods; returns the tables' sizes at that moment, and ten minutes later."""
        now = self.agenda.now
        entries, timers = self.gate.entries(now), sum(pod.has_deadline for pod in self.pods.values())
        for pod in self.pods.values():
            self.gate.forget(pod.pod, now)
        return Memory(entries, self.gate.left_after_housekeeping(now), timers)

    def _published(self, uid: str, publish: Publish) -> None:
        self.sink.offer(self.agenda.now, uid, status_key(publish.phase, publish.pod_ip, publish.containers))
        if not self._write_is_due:
            self._write()

    def _write(self) -> None:
        moment = self.sink.write(self.agenda.now)
        self._write_is_due = moment is not None
        if moment is not None:
            self.agenda.at(moment, self._write)


class SceneWorkload(Workload):
    """The containers of a scene: each ends by itself after its run, except where it stays or a probe has it killed."""

    def __init__(self, scene: Scene) -> None:
        self._start_cost_ns = scene.start_cost_ns
        self._run_ns = None if scene.kill_ns else scene.run_ns
        self._exit_codes = [scene.exit_code(number) for number in range(scene.pods)]

    def takes_ns(self, pod: Pod, effect: Effect) -> int:
        """Each start takes the scene's ``start_cost_ns``."""
        return self._start_cost_ns if isinstance(effect, StartContainer) else 0

    def runs_ns(self, pod: Pod, name: str) -> int | None:
        """A crashing container ends after the scene's run."""
        return None if name == STAYING else self._run_ns

    def exit_code(self, pod: Pod, name: str) -> int:
        """The scene says which pods fail."""
        return self._exit_codes[pod_number(pod.metadata.uid)]


def _prober(scene: Scene) -> Prober:
    """The simulation probes pods that have a liveness probe, which always fails. Other pods need no simulation."""
    if not scene.kill_ns:
        return GivenResults()
    simulation = Simulation()
    for number in range(scene.pods):
        for place in range(max(1, scene.containers - 1)):
            simulation.script(f"{pod_name(number)}/crash-{place}/liveness", FAILURE)
    return SimulatedProber(simulation)
