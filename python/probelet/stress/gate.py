"""The restart gate with somebody who writes down what it decides."""

from dataclasses import dataclass

from probelet.backoff.curve import Curve
from probelet.policy.gate import GateOptions, RestartGate, Verdict
from probelet.policy.restart import back_off_key
from probelet.policy.snapshot import ContainerRecord
from probelet.spec.container import Container
from probelet.spec.pod import Pod


@dataclass(frozen=True)
class Decision:
    """A start that was let through. Nanoseconds of the node's clock."""

    at_ns: int
    finished_ns: int | None
    """The exit it follows; None for a first start."""
    due_ns: int
    """When it was allowed at the earliest; for a free one ``at_ns``."""


class ObservedGate(RestartGate):
    """The gate of a node with one curve. ``starts`` are those it let through, by key, in order."""

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

    def decide(self, pod: Pod, container: Container, exited: ContainerRecord | None, now: int) -> Verdict:
        """As ``RestartGate.decide``."""
        key = back_off_key(pod, container)
        verdict = super().decide(pod, container, exited, now)
        if verdict.word == "start":
            finished = None if exited is None else exited.finished_ns or 0
            due = self._allowed.pop(key, now)
            self.starts.setdefault(key, []).append(Decision(now, finished, due))
        else:
            self._allowed[key] = verdict.due_ns
        return verdict
