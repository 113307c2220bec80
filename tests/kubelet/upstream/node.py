"""A node in virtual time: the production prober, policy and back-off around containers that are described by their age.

Minutes of an end-to-end observation take milliseconds. What the prober asks is answered at the moment it is asked, from
how long the container has been running and whether it has been told to end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from probelet._rust import Simulation
from probelet.node.runtime.facts import encode_facts
from probelet.policy.action import Action, Input, Observed, Publish, StopProbing, SyncRequested
from probelet.policy.facts.probe_state import KILLING_TYPES, ProbeState
from probelet.policy.lifecycle import PodMachine
from probelet.spec.model.pod import Pod
from probelet.spec.read.json import encode_pod
from probelet.spec.rules.defaults import set_defaults

from tests.kubelet.upstream.worker import HOUR_MS, ProbeType
from tests.unit.policy.rig import SECOND, Rig, gate, make_pod

MILLISECOND = SECOND // 1000


@dataclass(frozen=True)
class Life:
    """A container at the moment of a probe: seconds since it started, and whether its end was asked for."""

    age: float
    ending: bool


Answer = Callable[[Life], str]
"""``success``, ``failure``, ``error`` or ``timeout``; ``failure: text`` has an output."""


def always(answer: str) -> Answer:
    return lambda life: answer


def until(seconds: float, before: str, after: str) -> Answer:
    """One answer while the container is younger than that, then the other."""
    return lambda life: before if life.age < seconds else after


class Node(Rig):
    """One pod on a node. ``answers`` is by ``container/type``; a probe without one succeeds."""

    def __init__(
        self, pod: Pod, answers: Mapping[str, Answer] | None = None, *, version: str = "1.36", **options: Any
    ) -> None:
        super().__init__(set_defaults(pod), **{"call_takes": 0.5, "kill_takes": 1, **options})
        self.machine = PodMachine(self.pod, gate())
        self.uid = self.pod.metadata.uid
        self.simulation = Simulation(kubelet_version=version, warmup_ms=HOUR_MS)
        self.simulation.define_pod(encode_pod(self.pod))
        self.answers = dict(answers or {})
        self.attempts: list[tuple[float, str]] = []
        self.unhealthy: list[tuple[float, str]] = []
        self.ready: list[tuple[float, bool]] = []
        """Every change of condition Ready, and of a container's ``started`` by its name."""
        self.started_changes: list[tuple[float, str, bool]] = []
        self._shown: dict[str, Any] = {}
        self.give(Observed(self.snapshot))

    def probe_state(self, given: Input) -> ProbeState:
        results = {
            (probe_type, record.id): result
            for record in self.machine.latest(given).running()
            for probe_type in KILLING_TYPES
            if (result := self.simulation.result(probe_type, record.id)) is not None
        }
        return ProbeState(results, frozenset(name for name, row in self._rows().items() if row.get("started")))

    # Time.

    def run_until(self, seconds: float) -> None:
        while (moment := self._next()) is not None and moment <= seconds * SECOND:
            self.now = max(self.now, moment)
            self._probe()
            self._due.sort()
            if (self._due and self._due[0][0] <= self.now) or (self._deadline or self.now + 1) <= self.now:
                self.step()
            self._look()
        self.now = int(seconds * SECOND)

    def settle(self) -> None:
        """One thing at a time: the prober has its turn between any two."""

    def _next(self) -> int | None:
        probe = self.simulation.next_ms()
        moments = [entry[0] for entry in self._due] + [at for at in (self._deadline,) if at is not None]
        return min(moments + ([probe * MILLISECOND] if probe is not None else []), default=None)

    def _probe(self) -> None:
        for _, container, probe_type in self.simulation.workers():
            self.simulation.script(
                f"{self.pod.metadata.name}/{container}/{probe_type}", self._answer(container, probe_type)
            )
        self.simulation.run_until(self.now // MILLISECOND)
        for line in msgspec.json.decode(self.simulation.take_records()):
            at = line.get("t_ms", 0) / 1000
            match line["section"]:
                case "probes":
                    self.attempts.append((at, f"{line['container']}/{line['type']}"))
                case "events":
                    self.unhealthy.append((at, line["message"]))
                case "syncs":
                    self.give(SyncRequested())

    def _answer(self, container: str, probe_type: ProbeType) -> bytes:
        newest = self.snapshot.newest(container)
        age = self.now / SECOND - (newest.started_at_ms / 1000 if newest is not None else 0)
        ending = newest is not None and any(kill.container_id == newest.id for _, kill in self.kills)
        answer = self.answers.get(f"{container}/{probe_type}", always("success"))(Life(age, ending))
        outcome, _, output = answer.partition(": ")
        return msgspec.json.encode([{"outcome": outcome, "output": output}])

    # What it did.

    def restarts(self, container: str) -> int:
        return max((count for _, name, count in self.starts if name == container), default=0)

    def ran(self, worker: str) -> list[float]:
        """When the probe ``container/type`` was asked."""
        return [at for at, name in self.attempts if name == worker]

    def killing(self) -> list[str]:
        return [message for reason, message in self.events if reason == "Killing"]

    def _do(self, action: Action) -> None:
        match action:
            case Publish():
                sync = self.simulation.sync_terminating_pod if action.terminating else self.simulation.sync_pod
                sync(self.uid, encode_facts(action))
            case StopProbing():
                self.simulation.remove_pod(self.uid)
        super()._do(action)

    def _rows(self) -> dict[str, dict[str, Any]]:
        status = msgspec.json.decode(self.simulation.status(self.uid) or b"{}")
        return {row["name"]: row for row in (*status.get("containers", ()), *status.get("init_containers", ()))}

    def _look(self) -> None:
        """Note what changed for those who watch the pod."""
        status = msgspec.json.decode(self.simulation.status(self.uid) or b"{}")
        seen = {"": status.get("ready", False)} | {name: bool(row["started"]) for name, row in self._rows().items()}
        for name, value in seen.items():
            if self._shown.get(name, False) != value:
                self._shown[name] = value
                if name:
                    self.started_changes.append((self.now / SECOND, name, value))
                else:
                    self.ready.append((self.now / SECOND, value))


__all__ = ["Life", "Node", "always", "make_pod", "until"]
