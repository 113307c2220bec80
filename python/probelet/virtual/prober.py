"""The probe results of the pods of a node in virtual time: simulated, or set by a caller."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from probelet._rust import Simulation
from probelet.policy.facts.probe_state import ProbeState, ResultName
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.glue.status_layer import encode_facts, read_probe_state
from probelet.policy.incidents.turn import Turn
from probelet.policy.protocol.actions import Publish
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.spec.read.json import encode_pod
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.agenda import Deadlines

Line = dict[str, Any]
"""One record of a simulation, without its ``section``."""


class Prober(Deadlines, Protocol):
    """The part of the prober that a pod uses."""

    def add(self, pod: Pod, request_sync: Callable[[], None]) -> None:
        """Adds a pod; the prober calls ``request_sync`` when a result asks for a sync of the pod."""

    def define(self, pod: Pod) -> None:
        """A pod's manifest has changed; probes that run go on as they are."""

    def change(self, uid: str) -> None:
        """The probes that run become those with which the pod was last defined."""

    def publish(self, uid: str, publish: Publish) -> None:
        """Take the status of a pod."""

    def stop(self, uid: str) -> None:
        """End the workers of a pod whose containers are all dead."""

    def recheck(self, uid: str, container: str) -> None:
        """Takes a liveness failure back whose kill waits."""

    def probe_state(self, pod: Pod, snapshot: Snapshot) -> ProbeState:
        """The published results of the pod."""


class SimulatedProber:
    """The production core under a virtual clock. ``on_record`` gets each line that the simulation writes."""

    def __init__(self, simulation: Simulation, on_record: Callable[[str, Line], None] = lambda section, line: None):
        self.simulation = simulation
        self._on_record = on_record
        self._syncs: dict[str, Callable[[], None]] = {}
        self._on_turn: Callable[[Turn], None] | None = None
        # True while the simulation has an input that it has not acted on yet.
        self._has_input = False

    def watch_turns(self, listener: Callable[[Turn], None]) -> None:
        """From now on ``listener`` gets each turn of a probe that a container's behaviour answers, as from a live
        engine; times count from t = 0. Scripted probes have none."""
        self._on_turn = listener
        self.simulation.watch_turns()

    def add(self, pod: Pod, request_sync: Callable[[], None]) -> None:
        """Make the pod known; its workers begin when its first status is published."""
        self._syncs[pod.metadata.uid] = request_sync
        self.define(pod)

    def define(self, pod: Pod) -> None:
        """Makes the pod known as it is now."""
        self.simulation.define_pod(encode_pod(pod))

    def change(self, uid: str) -> None:
        """Workers go on with their counts."""
        self.simulation.change_probes(uid)
        self._has_input = True

    def publish(self, uid: str, publish: Publish) -> None:
        """SyncPod or SyncTerminatingPod of the status layer."""
        sync = self.simulation.sync_terminating_pod if publish.terminating else self.simulation.sync_pod
        sync(uid, encode_facts(publish))
        self._has_input = True

    def stop(self, uid: str) -> None:
        """RemovePod."""
        self.simulation.remove_pod(uid)
        self._has_input = True

    def recheck(self, uid: str, container: str) -> None:
        """The liveness probe of a container goes on after its failure."""
        self._has_input |= self.simulation.recheck(uid, container)

    def probe_state(self, pod: Pod, snapshot: Snapshot) -> ProbeState:
        """The results that the simulation has published of the pod."""
        return read_probe_state(self.simulation, pod, snapshot)

    def next_ns(self) -> int | None:
        """The simulation's next deadline; its present moment after an input."""
        moment = self.simulation.now_ms if self._has_input else self.simulation.next_ms()
        return None if moment is None else moment * MILLISECOND

    def advance(self, now: int) -> None:
        """Play the simulation up to this moment and act on its lines, until it has nothing more to do."""
        while True:
            self._has_input = False
            self.simulation.run_until(now // MILLISECOND)
            self.act_on(self.simulation.take_records())
            if not self._has_input:
                return

    def act_on(self, lines: bytes) -> None:
        """Pass on the lines that the simulation has written, and request the syncs that they ask for."""
        for line in msgspec.json.decode(lines):
            section = line.pop("section")
            self._on_record(section, line)
            if section == "syncs":
                self._syncs[line["pod_uid"]]()
            elif section == "turns" and self._on_turn is not None:
                self._on_turn(_turn(line))


def _turn(line: Line) -> Turn:
    return Turn(
        line["pod_uid"],
        line["container"],
        line["type"],
        line["t_ms"],
        line["is_good"],
        line["cause"],
        0.0,
        line["overdue_ms"],
        line["message"],
    )


class GivenResults:
    """Probe results that a scene or a test sets; nothing is probed, and a pod costs nothing here.

    A container whose status says running has started: no startup probe holds it up.
    """

    def __init__(self) -> None:
        self.values: dict[tuple[ProbeType, str], ResultName] = {}
        """By probe type and container id."""
        self._running: dict[str, frozenset[str]] = {}

    def add(self, pod: Pod, request_sync: Callable[[], None]) -> None:
        """The caller that sets a result also requests the sync, so ``request_sync`` is not kept."""

    def define(self, pod: Pod) -> None:
        """Nothing is probed here."""

    def change(self, uid: str) -> None:
        """Nothing is probed here."""

    def publish(self, uid: str, publish: Publish) -> None:
        """Note which containers run."""
        running = (name for name, status in publish.containers.items() if status.state == "running")
        self._running[uid] = frozenset(running)

    def stop(self, uid: str) -> None:
        """There are no workers."""

    def recheck(self, uid: str, container: str) -> None:
        """The caller sets the results, so a failure stays until it sets another."""

    def probe_state(self, pod: Pod, snapshot: Snapshot) -> ProbeState:
        """The results that were set."""
        return ProbeState(self.values, self._running.get(pod.metadata.uid, frozenset()))

    def next_ns(self) -> None:
        """Nothing is due here, ever."""

    def advance(self, now: int) -> None:
        """There is nothing to play."""
