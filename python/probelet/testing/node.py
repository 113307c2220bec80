"""A node in virtual time: pods from manifests, answers from a script, hours in milliseconds."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from probelet._rust import Simulation
from probelet.spec.read.json import encode_pod
from probelet.spec.read.load import load
from probelet.testing.loop import Line, Loop, Timing
from probelet.testing.outcome import AnswerError, milliseconds, step
from probelet.testing.runtime import ModelPod

ProbeType = Literal["liveness", "readiness", "startup"]


class Attempt(msgspec.Struct, frozen=True):
    """One try of a probe."""

    at: float
    """When it began, seconds since t = 0."""
    took: float
    worker: str
    """`pod/container/type`."""
    outcome: Literal["success", "failure", "error", "timeout"]


class Event(msgspec.Struct, frozen=True):
    """An event the prober recorded."""

    at: float
    pod: str
    reason: str
    message: str


class Kill(msgspec.Struct, frozen=True):
    """A verdict that has a container killed."""

    at: float
    container: str
    """`pod/container`."""
    probe_type: Literal["liveness", "startup"]


class VirtualNode(Loop):
    """Pods under the production prober and a scripted runtime. Every container runs from t = 0.

    A worker without a script succeeds at once, whatever its handler is: nothing is ever asked outside. A container that
    is killed ends `kill` later and runs again `restart` after that (durations as Go writes them).

    Raises:
        ValueError: a manifest has a mistake (one line each), or `kubelet_version` is not known.
    """

    def __init__(
        self,
        *manifests: Path,
        kubelet_version: str = "1.36",
        kill: str = "2s",
        restart: str = "1s",
        seed: int = 0,
    ) -> None:
        loaded = load(list(manifests))
        if loaded.errors or not loaded.pods:
            raise ValueError("\n".join(str(problem) for problem in loaded.errors) or "no pod in the manifests")
        self.attempts: list[Attempt] = []
        self.events: list[Event] = []
        self.kills: list[Kill] = []
        pods: dict[str, ModelPod] = {}
        simulation = Simulation(seed=seed, kubelet_version=kubelet_version)
        for manifest in loaded.pods:
            encoded = encode_pod(manifest.pod)
            uid, name = manifest.pod.metadata.uid, manifest.pod.metadata.name
            pods[uid] = ModelPod(uid, name, msgspec.json.decode(encoded)["spec"])
            simulation.define_pod(encoded)
        super().__init__(simulation, pods, Timing(kill_ms=milliseconds(kill), restart_ms=milliseconds(restart)))
        self._by_name = {pod.name: pod for pod in pods.values()}
        self._probes = sorted(_probes(pods.values()))
        self._begun = False

    @property
    def now(self) -> float:
        """Seconds since t = 0."""
        return self.simulation.now_ms / 1_000

    def answer(self, worker: str, *answers: str) -> None:
        """Script the attempts of `pod/container/type`; the last answer repeats for ever.

        Raises:
            AnswerError: an answer cannot be read, or there is no such probe.
        """
        if worker not in self._probes:
            raise AnswerError(f"{worker!r}: no such probe; there are {', '.join(self._probes)}")
        self.simulation.script(worker, msgspec.json.encode([step(answer) for answer in answers]))

    def run(self, duration: str) -> None:
        """Let virtual time go by. The first run starts every container, so scripts come before it."""
        self._begin()
        self.advance(self.simulation.now_ms + milliseconds(duration))

    def crash(self, container: str, exit_code: int = 1) -> None:
        """End the container `pod/container` by itself; it stays down until `start`."""
        pod, name = self._find(container)
        self.turn(lambda: self._change(pod, name, {"state": "terminated", "exit_code": exit_code}))

    def start(self, container: str) -> None:
        """Run the container `pod/container` anew, under a new ID."""
        pod, name = self._find(container)
        count = pod.restart_counts[name] = pod.restart_counts.get(name, 0) + 1
        self.turn(lambda: self._change(pod, name, {"state": "running", "id": f"{_id(pod, name)}-r{count}"}))

    def restarts(self, container: str) -> int:
        """How often the container `pod/container` was started again."""
        pod, name = self._find(container)
        return pod.restart_counts.get(name, 0)

    def ready(self, pod: str) -> bool:
        """Condition Ready of a pod."""
        return bool(self._status(pod)["ready"])

    def started(self, container: str) -> bool:
        """`started` of the container `pod/container`."""
        pod, name = self._find(container)
        status = self._status(pod.name)
        every = [*status["containers"], *status["init_containers"]]
        return any(each["name"] == name and each["started"] for each in every)

    def result(self, worker: str) -> Literal["Success", "Failure", "Unknown"] | None:
        """The published result of `pod/container/type`; None if there is none."""
        for probe_type in get_args(ProbeType):
            if worker.endswith(f"/{probe_type}"):
                pod, name = self._find(worker.removesuffix(f"/{probe_type}"))
                return self.simulation.result(probe_type, pod.containers[name].get("id", ""))
        raise AnswerError(f"{worker!r}: must end in /liveness, /readiness or /startup")

    @property
    def workers(self) -> list[str]:
        """Every live worker, `pod/container/type`."""
        return sorted("/".join(names) for names in self.simulation.workers())

    def recorded(self, section: str, line: Line) -> None:
        """Keep what a test looks at."""
        at = line.get("t_ms", 0) / 1_000
        match section:
            case "probes":
                worker = f"{line['pod']}/{line['container']}/{line['type']}"
                self.attempts.append(Attempt(at, line["end_ms"] / 1_000 - at, worker, line["outcome"]))
            case "events":
                self.events.append(Event(at, line["pod"], line["reason"], line["message"]))
            case "updates" if line["result"] == "Failure" and line["type"] != "readiness":
                pod = self.pods[line["pod_uid"]]
                name = pod.running(line["container_id"])
                if name is not None:
                    self.kills.append(Kill(at, f"{pod.name}/{name}", line["type"]))

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            for pod in self.pods.values():
                self.turn(lambda pod=pod: self._start(pod))  # type: ignore[misc]

    def _start(self, pod: ModelPod) -> None:
        every = [*pod.spec.get("containers", []), *pod.spec.get("initContainers", [])]
        names = [container["name"] for container in every]
        running = {name: {"state": "running", "id": _id(pod, name)} for name in names}
        # The first sync still sees no container, so that AddPod comes before anything runs, as on a node.
        self.sync(pod)
        pod.patch({"containers": running}, self.simulation.now_ms)
        self.sync(pod)

    def _change(self, pod: ModelPod, name: str, change: dict[str, Any]) -> None:
        pod.patch({"containers": {name: {"id": pod.containers[name].get("id", ""), **change}}}, self.simulation.now_ms)
        self.sync(pod)

    def _find(self, container: str) -> tuple[ModelPod, str]:
        self._begin()
        pod_name, _, name = container.partition("/")
        pod = self._by_name.get(pod_name)
        if pod is None or name not in pod.containers:
            known = [f"{pod.name}/{name}" for pod in self.pods.values() for name in pod.containers]
            raise AnswerError(f"{container!r}: no such container; there are {', '.join(known)}")
        return pod, name

    def _status(self, pod: str) -> dict[str, Any]:
        if pod not in self._by_name:
            raise AnswerError(f"{pod!r}: no such pod; there are {', '.join(self._by_name)}")
        self._begin()
        status: dict[str, Any] = msgspec.json.decode(self.simulation.status(self._by_name[pod].uid) or b"{}")
        return status


def _probes(pods: Iterable[ModelPod]) -> Iterator[str]:
    for pod in pods:
        for container in [*pod.spec.get("containers", []), *pod.spec.get("initContainers", [])]:
            for probe_type in get_args(ProbeType):
                if container.get(f"{probe_type}Probe"):
                    yield f"{pod.name}/{container['name']}/{probe_type}"


def _id(pod: ModelPod, name: str) -> str:
    return f"virtual://{pod.name}-{name}"
