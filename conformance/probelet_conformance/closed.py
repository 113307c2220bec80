"""Closed-loop replay: probelet's own status layer and sync decisions, against the recordings' runtime.

The only inputs are the scenario's events, and the ends and starts of containers that the recordings' glue brings about
after a liveness or startup failure. Every status the prober sees is probelet's own. `recorded_glue` says why the glue
is not the production policy.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from probelet._rust import Simulation

from probelet_conformance.play import USER_AGENT, status_line, trace_line
from probelet_conformance.pod import pod_object
from probelet_conformance.recorded_glue import RecordedGlue, Timing
from probelet_conformance.recording import Line, Recording, ScenarioPod, Trace
from probelet_conformance.scripted_pod import ScriptedPod


def play_closed(recording: Recording, kubelet_version: str | None = None) -> Trace:
    """Replay a scenario's events; returns `inputs`, `results` and `statuses` in the recordings' schema.

    `kubelet_version` selects the rules; None is the release that was recorded.
    """
    return ClosedPlayer(recording, kubelet_version or recording.release).play()


class ClosedPlayer(RecordedGlue):
    """One closed-loop replay under way; it writes down the prober's inputs."""

    def __init__(self, recording: Recording, kubelet_version: str) -> None:
        scenario = recording.scenario
        glue = scenario.kubelet_glue
        self.recording = recording
        self.scenario_pods = {pod.uid: pod for pod in scenario.pods}
        self.uids = {pod.name: pod.uid for pod in scenario.pods}
        self.deleting = {pod.uid for pod in scenario.pods if pod.deletion_timestamp_ms is not None}
        self.trace: Trace = {"inputs": [], "results": [], "statuses": []}
        self.batch = 0
        self.in_turn = False
        super().__init__(
            Simulation(warmup_ms=scenario.warmup_ms, user_agent=USER_AGENT, kubelet_version=kubelet_version),
            {pod.uid: ScriptedPod(pod.uid, pod.name, pod.spec, pod.pod_ip) for pod in scenario.pods},
            Timing(glue["sync_delay_ms"], glue["kill_ms"], glue["restart_ms"]),
        )
        for key, steps in scenario.scripts.items():
            self.simulation.script(key, msgspec.json.encode(steps))
        for pod in scenario.pods:
            self.simulation.define_pod(pod_object(recording, pod))

    def play(self) -> Trace:
        """Let events, workers and the runtime take their turns until the recording's end."""
        for events in _together(self.recording.scenario.events):
            self.run_until(events[0]["t_ms"])
            self.turn(lambda events=events: self._apply_all(events))  # type: ignore[misc]
        self.run_until(self.recording.end_ms)
        return self.trace

    def turn(self, action: Callable[[], None]) -> None:
        """Inputs that are applied together are one batch; nothing is written if there was no input."""
        before = len(self.trace["inputs"])
        self.batch += 1
        self.in_turn = True
        action()
        self.read()
        self.in_turn = False
        if len(self.trace["inputs"]) == before:
            self.batch -= 1
        self.simulation.settle()
        self.read()

    def recorded(self, section: str, line: Line) -> None:
        """Write down statuses and results; a status stored outside a turn is a batch of its own."""
        match section:
            case "updated":
                written = self._status_input("update_pod_status", line["pod_uid"], line["argument"])
                self.trace["statuses"].append(status_line({**written, "cause": ""}, line["filled"]))
            case "stored":
                if not self.in_turn:
                    self.batch += 1
                self._status_input("status", line["pod_uid"], line["status"])["t_ms"] = line["t_ms"]
            case "results":
                self.trace["results"].append(trace_line("results", dict(line)))

    def called(self, call: str, pod: ScriptedPod) -> None:
        """Write down a call that a sync made beside storing the status."""
        deleting = {"deleting": True} if call == "add_pod" and pod.uid in self.deleting else {}
        self._input(call, pod=pod.name, **deleting)

    def _apply_all(self, events: list[Line]) -> None:
        for event in events:
            self._apply(event)

    def _apply(self, event: Line) -> None:
        if event["op"] == "cleanup_pods":
            desired = event.get("desired") or []
            self.simulation.cleanup_pods([self.uids[name] for name in desired])
            self._input("cleanup_pods", **({"desired": desired} if desired else {}))
            return
        pod = self.pods[self.uids[event["pod"]]]
        match event["op"]:
            case "runtime":
                pod.patch(event, self.simulation.now_ms)
                if event.get("sync"):
                    self.sync(pod)
            case "sync":
                self.sync(pod)
            case "sync_terminating":
                pod.terminating = True
                self.sync(pod)
            case "status":
                pod.patch(event, self.simulation.now_ms)
                self._store(pod)
            case "update_pod_status":
                self._update(pod)
            case "add_pod":
                self.simulation.add_pod(pod.uid)
                self.called("add_pod", pod)
            case "remove_pod":
                pod.removed = True
                self.simulation.remove_pod(pod.uid)
                self._input("remove_pod", pod=pod.name)
            case "stop_liveness_and_startup":
                self.simulation.stop_liveness_and_startup(pod.uid)
                self._input("stop_liveness_and_startup", pod=pod.name)
            case "set_deletion_timestamp":
                self._mark_deleting(self.scenario_pods[pod.uid], in_place=not event.get("new_object", False))
            case op:
                raise ValueError(f"events: op: {op!r}: not an operation closed replay knows")

    def _store(self, pod: ScriptedPod) -> None:
        """Store the runtime's containers; one that has its ID keeps `ready` and `started`."""
        cached = msgspec.json.decode(self.simulation.status(pod.uid) or b"{}")
        stored = msgspec.json.decode(pod.facts())
        for key in ("containers", "init_containers"):
            known = {container["name"]: container for container in cached.get(key, [])}
            stored[key] = [kept(container, known.get(container["name"], {})) for container in stored[key]]
        self.simulation.set_pod_status(pod.uid, msgspec.json.encode(stored))
        stored = msgspec.json.decode(self.simulation.status(pod.uid) or b"{}")
        if stored != cached:
            self._status_input("status", pod.uid, stored)

    def _update(self, pod: ScriptedPod) -> None:
        cached = self.simulation.status(pod.uid) or b"{}"
        filled = msgspec.json.decode(self.simulation.update_pod_status(pod.uid, cached))
        written = self._status_input("update_pod_status", pod.uid, msgspec.json.decode(cached))
        self.trace["statuses"].append(status_line({**written, "cause": ""}, filled))

    def _mark_deleting(self, pod: ScenarioPod, *, in_place: bool) -> None:
        self.deleting.add(pod.uid)
        self.simulation.define_pod(pod_object(self.recording, pod, deleting=True))
        if in_place:
            self.simulation.mark_deleting(pod.uid)
        self._input("set_deletion_timestamp", pod=pod.name, **({"in_place": True} if in_place else {}))

    def _input(self, call: str, **more: Any) -> Line:
        line = {"t_ms": self.simulation.now_ms, "batch": self.batch, "call": call, **more}
        self.trace["inputs"].append(line)
        return line

    def _status_input(self, call: str, uid: str, document: dict[str, Any]) -> Line:
        shown = ("phase", "pod_ip", "containers", "init_containers")
        return self._input(call, pod=self.pods[uid].name, **{key: document[key] for key in shown if document.get(key)})


def kept(container: Line, before: Line) -> Line:
    """The container with what a status kept of it, if that status has the same container."""
    same = container.get("id") == before.get("id")
    return {
        **container,
        "ready": same and before.get("ready", False),
        "started": before.get("started") if same else None,
    }


def _together(events: list[Line]) -> Iterator[list[Line]]:
    """The events in groups. Nothing happens between two events of a group."""
    group: list[Line] = []
    for event in events:
        if group and not (group[-1].get("no_wait") and event["t_ms"] == group[0]["t_ms"]):
            yield group
            group = []
        group.append(event)
    if group:
        yield group
