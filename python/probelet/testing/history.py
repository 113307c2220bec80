"""Writes down what happens on a node in virtual time, in order."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

from probelet.base.printable import printable
from probelet.policy.glue.status_layer import status_rows
from probelet.testing.record import Attempt, Event, Kill, Transition

TIMELINE_MAX: Final = 60
"""The latest lines that a timeline shows by default: about a screen."""

FIELDS: Final = ("state", "started", "ready")


class History:
    """The records of a node. The timeline has events, kills and changes of status; no attempts, because each run that
    fails has an event."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.events: list[Event] = []
        self.kills: list[Kill] = []
        self.transitions: list[Transition] = []
        self._order: list[Event | Kill | Transition] = []
        self._statuses: dict[str, dict[tuple[str, str], bool | str]] = {}

    def event(self, event: Event) -> None:
        """An event was recorded."""
        self.events.append(event)
        self._order.append(event)

    def kill(self, kill: Kill) -> None:
        """A verdict has a container killed."""
        self.kills.append(kill)
        self._order.append(kill)

    def status(self, at: float, pod: str, status: Mapping[str, Any]) -> None:
        """The status of a pod may have changed."""
        before, after = self._statuses.get(pod, {}), _fields(pod, status)
        self._statuses[pod] = after
        for (subject, field), value in after.items():
            # A container that has not run yet is waiting, not started and not ready: no news.
            if value != before.get((subject, field), "waiting" if field == "state" else False):
                transition = Transition(at, subject, field, value)  # type: ignore[arg-type]
                self.transitions.append(transition)
                self._order.append(transition)

    def timeline(self, last: int) -> str:
        """The latest ``last`` lines, oldest first."""
        lines = [_line(list(records)) for _, records in groupby(self._order, _line_key)]
        hidden = max(0, len(lines) - last)
        return "\n".join([f"... {hidden} earlier lines"] * (hidden > 0) + lines[hidden:])


def _fields(pod: str, status: Mapping[str, Any]) -> dict[tuple[str, str], bool | str]:
    """The fields of a pod's status that a test reads, by subject and field; the containers come first."""
    fields = {
        (f"{pod}/{name}", field): row["state"] if field == "state" else bool(row.get(field))
        for name, row in status_rows(status).items()
        for field in FIELDS
    }
    return {**fields, (pod, "ready"): bool(status.get("ready"))}


def _line_key(record: Event | Kill | Transition) -> object:
    """Changes of one subject at one moment share a line."""
    return (record.at, record.subject) if isinstance(record, Transition) else id(record)


def _line(records: list[Event | Kill | Transition]) -> str:
    match first := records[0]:
        case Event():
            subject = f"{first.pod}/{first.container}" if first.container else first.pod
            text = f"{first.reason}: {first.message}"
        case Kill():
            subject, text = first.container, f"is killed by its {first.probe_type} probe"
        case Transition():
            subject = first.subject
            text = ", ".join(_change(record) for record in records if isinstance(record, Transition))
    return printable(f"{first.at:10.3f} s  {subject}  {text}")


def _change(change: Transition) -> str:
    return str(change.value) if change.field == "state" else f"{'' if change.value else 'not '}{change.field}"
