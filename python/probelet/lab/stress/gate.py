"""The restart gate with a log of the starts that it allows."""

from dataclasses import dataclass

from probelet.lab.backoff.curve import Curve
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.node.restart_gate import HOUSEKEEPING_NS, GateOptions, RestartGate, StartDecision
from probelet.policy.rules.restart import back_off_key
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


@dataclass(frozen=True)
class Decision:
    """A start that the gate allowed. Times are nanoseconds of the node's clock."""

    at_ns: int
    finished_ns: int | None
    """The exit it follows; None for a first start."""
    due_ns: int | None
    """The end of its back-off; None if it did not wait."""


class ObservedGate(RestartGate):
    """The gate of a node with one curve. ``starts`` has the starts that it allowed, by key, in order."""

    def __init__(self, curve: Curve) -> None:
        super().__init__(
            GateOptions(
                initial_ns=curve.initial_ns,
                max_ns=curve.max_ns,
                reset_ns=curve.reset_ns,
                factor_milli=round(curve.factor * 1000),
                first_free=curve.first_free,
            )
        )
        self.starts: dict[str, list[Decision]] = {}
        self._allowed: dict[str, int] = {}

    def decide(self, pod: Pod, container: Container, exited: ContainerRecord | None, now: int) -> StartDecision:
        """Decides like ``RestartGate.decide``."""
        key = back_off_key(pod, container)
        verdict = super().decide(pod, container, exited, now)
        if verdict.word == "start":
            finished = None if exited is None else exited.finished_ns or 0
            self.starts.setdefault(key, []).append(Decision(now, finished, self._allowed.pop(key, None)))
        else:
            self._allowed[key] = verdict.due_ns
        return verdict

    def lateness_ns(self, since_ns: int = 0) -> list[int]:
        """How long after the end of its back-off each start was decided; only decisions from ``since_ns`` on count."""
        known = (start for starts in self.starts.values() for start in starts if start.at_ns >= since_ns)
        return [start.at_ns - start.due_ns for start in known if start.due_ns is not None]

    def left_after_housekeeping(self, now: int) -> int:
        """Entries that the table still has one reset time and one housekeeping after its pods have gone."""
        return self.entries(now + self.options.reset_ns + HOUSEKEEPING_NS)
