"""One pod of the node in virtual time, whose containers are described by their age.

Minutes of an end-to-end observation take milliseconds. The answer to a probe depends on the age of its container and on
whether its kill has begun, both at the moment of the probe.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from probelet._rust import Simulation
from probelet.policy.glue.status_layer import status_of, status_rows
from probelet.spec.model.pod import Pod
from probelet.spec.rules.defaults import set_defaults
from probelet.virtual.prober import Line, SimulatedProber

from tests.kubelet.upstream.worker import HOUR_MS, ProbeType
from tests.unit.policy.rig import SECOND, Rig, make_pod


@dataclass(frozen=True)
class Life:
    """A container at the moment of a probe: its age in seconds, and whether its kill has begun."""

    age: float
    ending: bool


Answer = Callable[[Life], str]
"""``success``, ``failure``, ``error`` or ``timeout``; ``failure: text`` has an output."""


def always(answer: str) -> Answer:
    return lambda life: answer


def until(seconds: float, before: str, after: str) -> Answer:
    """Answers ``before`` while the container is younger than ``seconds``, then ``after``."""
    return lambda life: before if life.age < seconds else after


class AnsweringProber(SimulatedProber):
    """A prober that gets each answer from ``node`` at the moment of the probe; ``node`` then notes the changes."""

    def __init__(self, node: "OnePodNode", version: str) -> None:
        super().__init__(Simulation(kubelet_version=version, warmup_ms=HOUR_MS), node.recorded)
        self._node = node

    def advance(self, now: int) -> None:
        for pod, container, probe_type in self.simulation.workers():
            self.simulation.script(f"{pod}/{container}/{probe_type}", self._node.answer(container, probe_type))
        super().advance(now)
        self._node.look()


class OnePodNode(Rig):
    """A node with one pod. The keys of ``answers`` are ``container/type``; a probe without an answer succeeds."""

    def __init__(
        self, pod: Pod, answers: Mapping[str, Answer] | None = None, *, version: str = "1.36", **options: Any
    ) -> None:
        self.answers = dict(answers or {})
        self.attempts: list[tuple[float, str]] = []
        self.unhealthy: list[tuple[float, str]] = []
        self.ready: list[tuple[float, bool]] = []
        """Every change of condition Ready, and of a container's ``started`` by its name."""
        self.started_changes: list[tuple[float, str, bool]] = []
        self._shown: dict[str, Any] = {}
        prober = AnsweringProber(self, version)
        self.simulation = prober.simulation
        super().__init__(set_defaults(pod), prober=prober, **{"call_takes": 0.5, "kill_takes": 1, **options})
        self.observe()

    def recorded(self, section: str, line: Line) -> None:
        at = line.get("t_ms", 0) / 1000
        match section:
            case "probes":
                self.attempts.append((at, f"{line['container']}/{line['type']}"))
            case "events":
                self.unhealthy.append((at, line["message"]))

    def answer(self, container: str, probe_type: ProbeType) -> bytes:
        """The answer to a probe at this moment, as a script of one step."""
        newest = self.snapshot.newest(container)
        age = self.now / SECOND - (newest.started_at_ms / 1000 if newest is not None else 0)
        ending = newest is not None and any(kill.container_id == newest.id for _, kill in self.kills)
        answer = self.answers.get(f"{container}/{probe_type}", always("success"))(Life(age, ending))
        outcome, _, output = answer.partition(": ")
        return msgspec.json.encode([{"outcome": outcome, "output": output}])

    # What the node did.

    def restarts(self, container: str) -> int:
        return max((count for _, name, count in self.starts if name == container), default=0)

    def ran(self, worker: str) -> list[float]:
        """The times at which the probe ``container/type`` ran."""
        return [at for at, name in self.attempts if name == worker]

    def killing(self) -> list[str]:
        return [message for reason, message in self.events if reason == "Killing"]

    def look(self) -> None:
        """Notes each change of the Ready condition and of a container's ``started``."""
        status = status_of(self.simulation, self.uid)
        seen = {"": status.get("ready", False)} | {n: bool(row["started"]) for n, row in status_rows(status).items()}
        for name, value in seen.items():
            if self._shown.get(name, False) != value:
                self._shown[name] = value
                if name:
                    self.started_changes.append((self.now / SECOND, name, value))
                else:
                    self.ready.append((self.now / SECOND, value))


__all__ = ["Life", "OnePodNode", "always", "make_pod", "until"]
