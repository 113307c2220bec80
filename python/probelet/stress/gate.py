"""The crash-loop table with somebody who writes down what it decides."""

from dataclasses import dataclass
from typing import Literal

from probelet._rust import Backoff
from probelet.policy.restart import Policy, Verdict


@dataclass(frozen=True)
class Decision:
    """A start that was let through. Nanoseconds of the node's clock."""

    at_ns: int
    finished_ns: int | None
    """The exit it follows; None for a first start."""
    due_ns: int
    """When it was allowed at the earliest; for a free one ``at_ns``."""


class ObservedGate:
    """Every start by key, in order. Everything else is the table's own."""

    def __init__(self, table: Backoff) -> None:
        self._table = table
        self._due: dict[str, int] = {}
        self.starts: dict[str, list[Decision]] = {}

    def decide(
        self,
        key: str,
        *,
        now_ns: int,
        finished_ns: int | None,
        exit_code: int | None,
        restart_policy: Policy,
        rules: bytes = b"[]",
    ) -> Verdict:
        """As ``Backoff.decide``."""
        verdict = self._table.decide(
            key,
            now_ns=now_ns,
            finished_ns=finished_ns,
            exit_code=exit_code,
            restart_policy=restart_policy,
            rules=rules,
        )
        what: Literal["start", "wait", "never"] = verdict[0]
        if what == "wait":
            self._due[key] = verdict[1]
        elif what == "start":
            due = self._due.pop(key, now_ns)
            self.starts.setdefault(key, []).append(Decision(now_ns, finished_ns, due))
        return verdict

    def __getattr__(self, name: str) -> object:
        return getattr(self._table, name)
