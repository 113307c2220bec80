"""The kubelet's glue as the recordings have it: pod syncs, and a runtime that kills and restarts by the clock.

The recordings were made with the kubelet's prober. Around it a harness stood in for pod workers, container runtime and
restarts, and closed replay has to do what that harness did. The production policy cannot, because the harness
 - ends a container `kill_ms` after a liveness or startup *result*, whatever its grace and its hooks are, in no sync; a
   pod's machine kills as a part of a sync, which publishes the pod's status first;
 - starts the container `restart_ms` after that with the new id `<id>-rN`, without a back-off and without a create;
 - kills nothing in a pod with restartPolicy Never, sidecars excepted; the kubelet kills there, and starts nothing;
 - syncs a pod `sync_delay_ms` after a result asks for it, right after each end and start, and when the script says so;
 - has statuses that no machine would find: the script sets a pod's phase, has containers run that were never created,
   puts them back to waiting or forgets them, and removes pods whose containers run.
Only the clock is that of the node in virtual time (`probelet.virtual.agenda`).
"""

import re
from collections.abc import Callable

import msgspec
from probelet._rust import Simulation
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.agenda import Agenda, play

from probelet_conformance.recording import Line
from probelet_conformance.scripted_pod import ScriptedPod

RESTART_SUFFIX = re.compile(r"-r\d+$")


class Timing(msgspec.Struct, frozen=True):
    """How long the recorder's glue takes, in virtual milliseconds."""

    sync_delay_ms: int
    """From a result to the sync it asks for."""
    kill_ms: int
    """From a failed probe to the container's end."""
    restart_ms: int
    """From the container's end to its next start."""


class RecordedGlue:
    """Pods around one simulation. A subclass gets each line of the simulation and each call of a sync."""

    def __init__(self, simulation: Simulation, pods: dict[str, ScriptedPod], timing: Timing) -> None:
        self.simulation = simulation
        self.pods = pods
        self._timing = timing
        self._agenda = Agenda()

    def recorded(self, section: str, line: Line) -> None:
        """Take a line that the simulation wrote."""

    def called(self, call: str, pod: ScriptedPod) -> None:
        """Take a call that a sync made on the prober beside storing the status."""

    def run_until(self, t_ms: int) -> None:
        """Play on until `t_ms`, including everything due at that moment."""
        play(self._agenda, self, t_ms * MILLISECOND)

    def next_ns(self) -> int | None:
        """The next moment at which the simulation has something to do."""
        moment = self.simulation.next_ms()
        return None if moment is None else moment * MILLISECOND

    def advance(self, now: int) -> None:
        """Play the simulation up to this moment."""
        self.simulation.run_until(now // MILLISECOND)
        self.read()

    def turn(self, action: Callable[[], None]) -> None:
        """Change the pods, then play the consequences."""
        action()
        self.read()
        self.simulation.settle()
        self.read()

    def sync(self, pod: ScriptedPod) -> None:
        """SyncPod, or SyncTerminatingPod, with the runtime's state at this moment."""
        facts = pod.facts()
        if pod.terminating:
            self.simulation.sync_terminating_pod(pod.uid, facts)
            self.read()
            self.called("stop_liveness_and_startup", pod)
            return
        self.simulation.sync_pod(pod.uid, facts)
        self.read()
        if not pod.is_terminal:
            self.called("add_pod", pod)

    def read(self) -> None:
        """Take the simulation's new lines, and react as the recorder did."""
        for line in msgspec.json.decode(self.simulation.take_records()):
            section = line.pop("section")
            self.recorded(section, line)
            if section == "updates":
                self._consider_kill(line)
            elif section == "syncs":
                self._request_sync(self.pods[line["pod_uid"]])

    def _later(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Run a step in a turn of its own, `delay_ms` from now."""
        self._agenda.at((self.simulation.now_ms + delay_ms) * MILLISECOND, lambda: self.turn(action))

    def _request_sync(self, pod: ScriptedPod) -> None:
        """One pending sync per pod, as a pod worker coalesces them."""
        if pod.sync_pending or pod.removed:
            return
        pod.sync_pending = True

        def sync() -> None:
            pod.sync_pending = False
            if not pod.removed:
                self.sync(pod)

        self._later(self._timing.sync_delay_ms, sync)

    def _consider_kill(self, update: Line) -> None:
        pod = self.pods[update["pod_uid"]]
        if update["result"] != "Failure" or update["type"] == "readiness":
            return
        name = pod.running(update["container_id"])
        if name is None or name in pod.killing or pod.terminating or not pod.restarts(name):
            return
        pod.killing.add(name)
        self._later(self._timing.kill_ms, lambda: self._killed(pod, name))

    def _killed(self, pod: ScriptedPod, name: str) -> None:
        pod.killing.discard(name)
        if name not in pod.containers:
            return  # The runtime has forgotten it meanwhile.
        pod.containers[name].update(state="terminated", exit_code=137)
        if pod.removed:
            self.simulation.sync_terminated_pod(pod.uid, pod.facts())
            self.read()
        else:
            self.sync(pod)
        self._later(self._timing.restart_ms, lambda: self._start_again(pod, name))

    def _start_again(self, pod: ScriptedPod, name: str) -> None:
        if pod.terminating or pod.removed or name not in pod.containers:
            return
        container = pod.containers[name]
        pod.restart_counts[name] = pod.restart_counts.get(name, 0) + 1
        container["id"] = f"{RESTART_SUFFIX.sub('', container.get('id', name))}-r{pod.restart_counts[name]}"
        container.update(state="running", started_at_ms=self.simulation.now_ms)
        container.pop("exit_code", None)
        self.sync(pod)
