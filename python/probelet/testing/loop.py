"""The kubelet around the prober, in virtual time: pod syncs, and a runtime that kills and restarts.

The prober, its status layer and its wish for a sync are probelet's production core; this is the rest of the loop, small
enough to be scripted.
"""

import heapq
import re
from collections.abc import Callable
from typing import Any

import msgspec

from probelet._rust import Simulation
from probelet.testing.runtime import ModelPod

RESTART_SUFFIX = re.compile(r"-r\d+$")

Line = dict[str, Any]


class Timing(msgspec.Struct, frozen=True):
    """How long the loop's parts take, in virtual milliseconds."""

    sync_delay_ms: int = 20
    """From a result to the sync it asks for. The default is what the recordings were made with."""
    kill_ms: int = 2_000
    """From a failed probe to the container's end. The default is the kubelet's least grace."""
    restart_ms: int = 1_000
    """From the container's end to its next start."""


class Loop:
    """Pods around one simulation. A subclass hears what was recorded and what was called."""

    def __init__(self, simulation: Simulation, pods: dict[str, ModelPod], timing: Timing) -> None:
        self.simulation = simulation
        self.pods = pods
        self.timing = timing
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0

    def recorded(self, section: str, line: Line) -> None:
        """Hear a line the simulation wrote down."""

    def called(self, call: str, pod: ModelPod) -> None:
        """Hear that a sync told the prober something beside the status."""

    def restarted(self, pod: ModelPod, name: str) -> None:
        """Hear that a container was started again."""

    def advance(self, t_ms: int) -> None:
        """Play on until `t_ms`, what is due at that moment included."""
        while True:
            moments = [moment for moment in (self.simulation.next_ms(), self._next()) if moment is not None]
            moment = min(moments, default=t_ms + 1)
            if moment > t_ms:
                break
            self.simulation.run_until(moment)
            self.read()
            while self._queue and self._queue[0][0] <= moment:
                self.turn(heapq.heappop(self._queue)[2])
        self.simulation.run_until(t_ms)
        self.read()

    def turn(self, action: Callable[[], None]) -> None:
        """Do something to the pods, then let what follows from it happen."""
        action()
        self.read()
        self.simulation.settle()
        self.read()

    def later(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Do something in a turn of its own, some time from now."""
        self._order += 1
        heapq.heappush(self._queue, (self.simulation.now_ms + delay_ms, self._order, action))

    def sync(self, pod: ModelPod) -> None:
        """SyncPod, or SyncTerminatingPod, with what the runtime says at this moment."""
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
        """Take what the simulation wrote, and react as the kubelet and its runtime do."""
        for line in msgspec.json.decode(self.simulation.take_records()):
            section = line.pop("section")
            self.recorded(section, line)
            if section == "updates":
                self._consider_kill(line)
            elif section == "syncs":
                self._request_sync(self.pods[line["pod_uid"]])

    def _next(self) -> int | None:
        return self._queue[0][0] if self._queue else None

    def _request_sync(self, pod: ModelPod) -> None:
        """One pending sync per pod, as a pod worker coalesces them."""
        if pod.sync_pending or pod.removed:
            return
        pod.sync_pending = True

        def sync() -> None:
            pod.sync_pending = False
            if not pod.removed:
                self.sync(pod)

        self.later(self.timing.sync_delay_ms, sync)

    def _consider_kill(self, update: Line) -> None:
        pod = self.pods[update["pod_uid"]]
        if update["result"] != "Failure" or update["type"] == "readiness":
            return
        name = pod.running(update["container_id"])
        if name is None or name in pod.killing or pod.terminating or not pod.restarts(name):
            return
        pod.killing.add(name)
        self.later(self.timing.kill_ms, lambda: self._killed(pod, name))

    def _killed(self, pod: ModelPod, name: str) -> None:
        pod.killing.discard(name)
        if name not in pod.containers:
            return  # The runtime has forgotten it meanwhile.
        pod.containers[name].update(state="terminated", exit_code=137)
        if not pod.removed:
            self.sync(pod)
        self.later(self.timing.restart_ms, lambda: self._start_again(pod, name))

    def _start_again(self, pod: ModelPod, name: str) -> None:
        if pod.terminating or pod.removed or name not in pod.containers:
            return
        container = pod.containers[name]
        pod.restart_counts[name] = pod.restart_counts.get(name, 0) + 1
        container["id"] = f"{RESTART_SUFFIX.sub('', container.get('id', name))}-r{pod.restart_counts[name]}"
        container.update(state="running", started_at_ms=self.simulation.now_ms)
        container.pop("exit_code", None)
        self.restarted(pod, name)
        self.sync(pod)
