"""A node as its NodePodProbe shows it, and its last minutes in short."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from probelet.beside.guard.objects.node_probes import NodeProbes, ProbeState

BEATS: Final = 63
"""How many beats are kept; with the present one a row of the page is full."""

Beat: TypeAlias = Literal[".", "~", "!", "?"]
"""A time of a node. ``.``: no probe failed. ``~``: the last attempt of one had failed. ``!``: the state of one was
Failed. ``?``: nothing was known."""

_WORST: Final = ".?~!"


@dataclass(slots=True, eq=False)
class NodeSeen:
    """A node with probes of ours."""

    name: str
    probes: NodeProbes | None = None
    is_ready: bool = True
    is_silent: bool = False
    """Whether it has not written what it should have by now."""
    heard_ms: int = 0
    """When its NodePodProbe last changed, by the controller's clock."""
    total: int = 0
    failed: int = 0
    """Probes whose state is Failed."""
    failing: int = 0
    """Others whose last attempt failed."""
    unknown: int = 0
    """Probes without a state."""
    beats: str = ""
    """The last ones, the newest last."""
    worst: Beat = "."
    """The worst since the last beat."""

    @property
    def speaks(self) -> bool:
        """Whether what it has written counts."""
        return self.probes is not None and self.is_ready and not self.is_silent

    def take(self, probes: NodeProbes, now_ms: int) -> None:
        """It has written."""
        self.probes, self.heard_ms, self.is_silent = probes, now_ms, False
        states = [probe for pod in probes.pods.values() for probe in pod.probes]
        self.total = len(states)
        self.failed = sum(probe.state == "Failed" for probe in states)
        self.failing = sum(probe.is_failing for probe in states) - self.failed
        self.unknown = sum(probe.state == "Unknown" and not probe.is_failing for probe in states)
        self.note()

    def note(self) -> None:
        """The worst since the last beat is this moment, if it is worse."""
        if self.is_new_worst(self.now):
            self.worst = self.now

    def is_new_worst(self, beat: Beat) -> bool:
        """Whether a beat is worse than what was noted."""
        return _WORST.index(beat) > _WORST.index(self.worst)

    @property
    def now(self) -> Beat:
        """This moment."""
        if not self.speaks:
            return "?"
        return "!" if self.failed else "~" if self.failing else "?" if self.unknown == self.total else "."

    def beat(self) -> None:
        """A beat is over."""
        self.beats = (self.beats + self.worst)[-BEATS:]
        self.worst = self.now


def bad_first(seen: NodeSeen) -> list[tuple[str, ProbeState]]:
    """The probes that fail, those in state Failed first, each with ``namespace/name`` of its pod."""
    pods = () if seen.probes is None else seen.probes.pods.values()
    found = [(f"{pod.namespace}/{pod.name}", probe) for pod in pods for probe in pod.probes if probe.is_failing]
    found.sort(key=lambda each: (each[1].state != "Failed", each[0], each[1].container))
    return found
