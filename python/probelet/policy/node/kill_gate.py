"""The gate of a node in front of every liveness kill: some wait while an incident is open that a restart does not mend.

``policy.incidents.hold`` has the rules. Without a gate, and with one whose node and pods choose ``off``, every kill
goes on, as in a kubelet.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.incidents import Incident, Turn
from probelet.policy.incidents.hold import Held, HoldEnd, KillHold, Verdict, program_of
from probelet.policy.rules.grace import find_container
from probelet.policy.rules.restart import restart_spec
from probelet.spec.annotation.hold_kills import HoldChoice, hold_choice
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.spec.text.duration import MINUTE

HOLD_MOST_NS: Final = 5 * MINUTE
"""How long a kill may wait by default."""


class Gated(msgspec.Struct, frozen=True):
    """The results of a pod once the gate has judged its liveness failures."""

    probes: ProbeState
    """The results by which to act: a kill that waits is no failure, one whose wait is over is one without a fresh
    attempt."""
    rechecks: tuple[str, ...] = ()
    """Containers whose probe is to go on."""
    begun: tuple[Held, ...] = ()
    """Kills that wait from now on."""
    until_ns: int | None = None
    """When to ask again at the latest; None if nothing waits."""


IncidentOf: TypeAlias = Callable[[str], Incident | None]
"""Returns the open incident that a pod belongs to, by its UID."""


class HoldOptions(msgspec.Struct, frozen=True):
    """``choice`` is for pods that name none by annotation; ``most_ns`` is how long a kill may wait."""

    choice: HoldChoice = "off"
    most_ns: int = HOLD_MOST_NS


NO_HOLD: Final = HoldOptions()
"""Kills wait for pods alone that choose it."""


class KillGate:
    """The kills of a node. Times are nanoseconds of the clock that the caller's machines have. ``on_going`` gets the
    pod's UID and the container of each kill that goes on."""

    def __init__(
        self, incident_of: IncidentOf, options: HoldOptions, on_going: Callable[[str, str], None] | None = None
    ) -> None:
        self._incident_of = incident_of
        self._options = options
        self._on_going = on_going
        self._hold = KillHold(options.most_ns)

    def choice_of(self, pod: Pod) -> HoldChoice:
        """The choice of a pod: its annotation's, else the node's."""
        own, _ = hold_choice(pod)
        return self._options.choice if own is None else own

    def judge_all(self, now: int, pod: Pod, snapshot: Snapshot, probes: ProbeState) -> Gated:
        """Judge the liveness failures of the running containers of a pod."""
        uid, results = pod.metadata.uid, dict(probes.results)
        rechecks: list[str] = []
        begun: list[Held] = []
        waiting: list[Held] = []
        for record in snapshot.running():
            name = record.name
            key: tuple[ProbeType, str] = ("liveness", record.id)
            before = held = self.held(uid, name, record.id)
            is_over = held is not None and now >= held.until_ns
            if self.is_going(uid, name, record.id):
                # The result may be Unknown, if the container was not asked again before its wait was over.
                results[key] = "Failure"
            elif is_over or probes.result(*key) == "Failure":
                held = self.judge(now, pod, find_container(pod, name), record.id)
                results[key] = "Failure" if held is None else "Unknown"
                if held is not None:
                    rechecks.append(name)
                    begun += [] if before is not None else [held]
            waiting += [] if held is None else [held]
        until_ns = min((held.until_ns for held in waiting), default=None)
        return Gated(replace(probes, results=results), tuple(rechecks), tuple(begun), until_ns)

    def judge(self, now: int, pod: Pod, container: Container, container_id: str) -> Held | None:
        """None if a container whose liveness probe has failed is to be killed now."""
        uid = pod.metadata.uid
        if self.is_going(uid, container.name, container_id):
            return None
        restarts = restart_spec(pod, container).after_kill()
        program = program_of(container.name, container.image)
        verdict = Verdict(uid, container.name, container_id, self.choice_of(pod), restarts, program)
        held = self._hold.judge(now, verdict, self._incident_of(uid))
        if held is None and self._on_going is not None:
            self._on_going(uid, container.name)
        return held

    def held(self, pod_uid: str, container: str, container_id: str) -> Held | None:
        """The kill of an instance, if it waits."""
        found = self._hold.held(pod_uid, container)
        return found if found is not None and found.container_id == container_id else None

    def is_going(self, pod_uid: str, container: str, container_id: str) -> bool:
        """Whether the kill of an instance goes on, so that nothing calls it back."""
        return self._hold.is_going(pod_uid, container, container_id)

    def of_pod(self, pod_uid: str) -> list[Held]:
        """The kills of a pod that wait."""
        return self._hold.of_pod(pod_uid)

    @property
    def count(self) -> int:
        """How many kills wait."""
        return self._hold.count

    @property
    def ended(self) -> dict[HoldEnd, int]:
        """How waits ended so far."""
        return dict(self._hold.ended)

    def attempt(self, turn: Turn) -> None:
        """An attempt ended."""
        self._hold.attempt(turn)

    def over(self, incident_id: str) -> None:
        """An incident is over."""
        self._hold.over(incident_id)

    def gone(self, pod_uid: str) -> None:
        """A pod ends, or is no longer probed."""
        self._hold.gone(pod_uid)
