"""A node in virtual time with one pod ``web``, and a log of what was asked of its runtime."""

from typing import Any

import msgspec
from probelet._rust import Simulation
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.protocol.actions import Publish
from probelet.policy.protocol.effects import Effect, KillContainer, StartContainer
from probelet.spec.model.pod import Pod
from probelet.spec.rules.defaults import set_defaults
from probelet.virtual.node import SimulatedNode
from probelet.virtual.prober import SimulatedProber
from probelet.virtual.workload import Workload

SECOND = 1_000_000_000


def make_pod(*containers: dict[str, Any], **spec: Any) -> Pod:
    """A defaulted pod ``web`` of these containers."""
    body = {
        "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
        "spec": {"containers": [{"image": "i", **container} for container in containers], **spec},
    }
    return set_defaults(msgspec.convert(body, Pod))


class Scene(Workload):
    """The node. ``answers`` by ``container/type`` repeat for ever; a killed container runs on for ``kill`` seconds.

    ``runs`` (by container, seconds) makes each instance exit by itself, with 1. ``log`` has a line for each kill, its
    grace and each start; ``waiting`` the changes of the reason why container ``app`` waits, empty while it does not.
    """

    def __init__(
        self,
        pod: Pod,
        *,
        answers: dict[str, str] | None = None,
        kill: float = 0,
        runs: dict[str, float] | None = None,
        **options: Any,
    ) -> None:
        self.log: list[str] = []
        self.waiting: list[tuple[float, str]] = []
        self._kill_ns = int(kill * SECOND)
        self._runs = runs or {}
        self.published = 0
        """How many statuses the pod has published."""
        self.simulation = Simulation()
        for worker, outcome in (answers or {}).items():
            self.answer(worker, outcome)
        self.gate = RestartGate(GateOptions(**options))
        self.node = SimulatedNode(SimulatedProber(self.simulation), self.gate, self, self._published)
        self.pod = self.node.add(pod)

    @property
    def now(self) -> float:
        return self.node.agenda.now / SECOND

    def answer(self, worker: str, outcome: str) -> None:
        """How the probe ``container/type`` is answered from now on, at once."""
        self.simulation.script(f"web/{worker}", msgspec.json.encode([{"outcome": outcome, "delay_ms": 0}]))

    def run_until(self, seconds: float) -> None:
        self.node.run_until(int(seconds * SECOND))

    def takes_ns(self, pod: Pod, effect: Effect) -> int:
        if isinstance(effect, StartContainer):
            self.log.append(f"{self.now:g} start {effect.name}")
        return 0

    def ends_ns(self, pod: Pod, effect: KillContainer) -> int:
        self.log.append(f"{self.now:g} kill {effect.name} within {effect.grace_seconds}")
        return self._kill_ns

    def runs_ns(self, pod: Pod, name: str) -> int | None:
        return int(self._runs[name] * SECOND) if name in self._runs else None

    def exit_code(self, pod: Pod, name: str) -> int:
        return 1

    def _published(self, uid: str, publish: Publish) -> None:
        self.published += 1
        status = publish.containers["app"]
        reason = status.reason if status.state == "waiting" else ""
        if reason != (self.waiting[-1][1] if self.waiting else ""):
            self.waiting.append((self.now, reason))
