"""A node in virtual time: pods from manifests, answers from a script, hours in milliseconds."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from probelet._rust import Simulation
from probelet.glue.status_layer import status_of, status_rows
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.protocol.inputs import Release
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import PROBE_TYPES
from probelet.spec.read.load import load
from probelet.spec.text.duration import MILLISECOND, SECOND
from probelet.testing.outcome import AnswerError, milliseconds, step
from probelet.testing.record import Attempt, Event, Kill
from probelet.testing.workload import SteadyWorkload
from probelet.virtual.node import SimulatedNode
from probelet.virtual.pod import VirtualPod
from probelet.virtual.prober import Line, SimulatedProber


class VirtualNode:
    """Pods under the production prober, policy and restart back-off, on a modelled runtime. They start at t = 0.

    A manifest holds pods, or workloads with a pod template: the template is one pod with the workload's name. With
    `replicas` a workload has as many pods as it asks for, `web-0`, `web-1` and so on.

    A worker without a script succeeds at once, whatever its handler is: nothing is ever asked outside. A container that
    is killed has its preStop hook and its grace; it ends `kill` after SIGTERM, or when its grace is over. It runs again
    when the kubelet would run it again: at once, then after 10 s, 20 s and so on; with `restart`, always so long after
    its end. Durations are written as in Go.

    Raises:
        ValueError: a manifest has a mistake (one line each), or `kubelet_version` is not known.
    """

    def __init__(
        self,
        *manifests: Path,
        kubelet_version: str = "1.36",
        kill: str = "2s",
        restart: str | None = None,
        replicas: bool = False,
        seed: int = 0,
    ) -> None:
        loaded = load(list(manifests), replicas=replicas)
        if loaded.errors or not loaded.pods:
            raise ValueError("\n".join(str(problem) for problem in loaded.errors) or "no pod in the manifests")
        self.attempts: list[Attempt] = []
        self.events: list[Event] = []
        self.kills: list[Kill] = []
        self._simulation = Simulation(seed=seed, kubelet_version=kubelet_version)
        self._node = SimulatedNode(
            SimulatedProber(self._simulation, self._recorded),
            _gate(restart),
            SteadyWorkload(milliseconds(kill) * MILLISECOND),
        )
        for manifest in loaded.pods:
            self._node.add(manifest.pod)
        self._by_name = {pod.pod.metadata.name: pod for pod in self._node.pods.values()}
        self._probes = sorted(_probes(manifest.pod for manifest in loaded.pods))

    @property
    def now(self) -> float:
        """Seconds since t = 0."""
        return self._node.agenda.now / SECOND

    def answer(self, worker: str, *answers: str) -> None:
        """Script the attempts of `pod/container/type`; the last answer repeats for ever.

        Raises:
            AnswerError: an answer cannot be read, or there is no such probe.
        """
        if worker not in self._probes:
            raise AnswerError(f"{worker!r}: no such probe; there are {', '.join(self._probes)}")
        self._simulation.script(worker, msgspec.json.encode([step(answer) for answer in answers]))

    def run(self, duration: str) -> None:
        """Let virtual time go by. The first run starts the pods, so scripts come before it."""
        self._node.run_until(self._node.agenda.now + milliseconds(duration) * MILLISECOND)

    def crash(self, container: str, exit_code: int = 1) -> None:
        """End the container `pod/container` by itself. It runs again when its restart policy and back-off allow."""
        pod, name = self._find(container)
        pod.exit(_id(pod, name), exit_code)
        self._catch_up()

    def start(self, container: str) -> None:
        """Run the container `pod/container` now if it waits for its restart, as `probelet retry` does."""
        pod, name = self._find(container)
        pod.give(Release((name,)))
        self._catch_up()

    def restarts(self, container: str) -> int:
        """How often the container `pod/container` was started again."""
        pod, name = self._find(container)
        newest = pod.runtime.snapshot.newest(name)
        return 0 if newest is None else newest.restart_count

    def ready(self, pod: str) -> bool:
        """Condition Ready of a pod."""
        if pod not in self._by_name:
            raise AnswerError(f"{pod!r}: no such pod; there are {', '.join(self._by_name)}")
        self._catch_up()
        return bool(status_of(self._simulation, self._by_name[pod].uid).get("ready"))

    def started(self, container: str) -> bool:
        """`started` of the container `pod/container`."""
        pod, name = self._find(container)
        return bool(status_rows(status_of(self._simulation, pod.uid))[name]["started"])

    def result(self, worker: str) -> Literal["Success", "Failure", "Unknown"] | None:
        """The published result of `pod/container/type`; None if there is none."""
        for probe_type in PROBE_TYPES:
            if worker.endswith(f"/{probe_type}"):
                pod, name = self._find(worker.removesuffix(f"/{probe_type}"))
                return self._simulation.result(probe_type, _id(pod, name))
        raise AnswerError(f"{worker!r}: must end in /liveness, /readiness or /startup")

    @property
    def workers(self) -> list[str]:
        """Every live worker, `pod/container/type`."""
        return sorted("/".join(names) for names in self._simulation.workers())

    def _catch_up(self) -> None:
        """Let everything happen that is due at this moment; the first time this starts the pods."""
        self._node.run_until(self._node.agenda.now)

    def _recorded(self, section: str, line: Line) -> None:
        """Keep the records that a test reads."""
        at = line.get("t_ms", 0) / 1_000
        match section:
            case "probes":
                worker = f"{line['pod']}/{line['container']}/{line['type']}"
                self.attempts.append(Attempt(at, line["end_ms"] / 1_000 - at, worker, line["outcome"]))
            case "events":
                self.events.append(Event(at, line["pod"], line["reason"], line["message"]))
            case "updates" if line["result"] == "Failure" and line["type"] != "readiness":
                pod = self._node.pods[line["pod_uid"]]
                running = pod.runtime.running(line["container_id"])
                if running is not None:
                    self.kills.append(Kill(at, f"{pod.pod.metadata.name}/{running.name}", line["type"]))

    def _find(self, container: str) -> tuple[VirtualPod, str]:
        self._catch_up()
        pod_name, _, name = container.partition("/")
        pod = self._by_name.get(pod_name)
        if pod is None or name not in _names(pod.pod):
            known = [f"{pod.metadata.name}/{name}" for pod in self._pods() for name in _names(pod)]
            raise AnswerError(f"{container!r}: no such container; there are {', '.join(known)}")
        return pod, name

    def _pods(self) -> Iterator[Pod]:
        return (pod.pod for pod in self._node.pods.values())


def _gate(restart: str | None) -> RestartGate:
    """The kubelet's back-off; with ``restart``, one that has every restart wait so long from the container's end."""
    if restart is None:
        return RestartGate()
    wait_ns = milliseconds(restart) * MILLISECOND
    return RestartGate(GateOptions(initial_ns=wait_ns, max_ns=wait_ns, first_free=False, own_exit=True))


def _names(pod: Pod) -> list[str]:
    return [container.name for container in (*pod.spec.containers, *pod.spec.init_containers)]


def _probes(pods: Iterable[Pod]) -> Iterator[str]:
    for pod in pods:
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            for probe_type in container.probes:
                yield f"{pod.metadata.name}/{container.name}/{probe_type}"


def _id(pod: VirtualPod, name: str) -> str:
    newest = pod.runtime.snapshot.newest(name)
    return "" if newest is None else newest.id
