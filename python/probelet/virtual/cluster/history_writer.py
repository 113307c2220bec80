"""Writes down what happens in a cluster, in order."""

from collections import deque
from collections.abc import Iterable
from typing import Final, Literal

from probelet.base.printable import printable
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.fault import Fault
from probelet.virtual.cluster.record import Event, Exited, FaultSpan, Kill

EVENTS_MAX: Final = 10_000
"""Events that are kept: an hour of a hundred pods that fail all the time."""

LINES_MAX: Final = 10_000
"""The latest lines of a timeline that are kept."""


class HistoryWriter:
    """The records of a cluster. Moments are nanoseconds, in the records seconds."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.dropped = 0
        self.kills: list[Kill] = []
        self.exits: list[Exited] = []
        self.faults: list[FaultSpan] = []
        self.planned: list[tuple[Fault, int, int | None]] = []
        """The faults themselves, with their begin and end."""
        # What the simulations have written is read when they stop, so lines may come late.
        self._lines: deque[tuple[float, str]] = deque(maxlen=LINES_MAX)
        self._count = 0

    def event(self, event: Event) -> None:
        """An event was recorded."""
        if len(self.events) < EVENTS_MAX:
            self.events.append(event)
        else:
            self.dropped += 1
        subject = event.workload or (f"{event.pod}/{event.container}" if event.container else event.pod)
        self.line(event.at, subject, f"{event.reason}: {event.message}")

    def kill(self, kill: Kill) -> None:
        """A verdict has a container killed."""
        self.kills.append(kill)
        self.line(kill.at, f"{kill.pod}/{kill.container}", f"is killed by its {kill.probe_type} probe")

    def exit(self, exited: Exited) -> None:
        """A container has ended."""
        self.exits.append(exited)
        text = f"has ended with exit code {exited.exit_code} ({exited.reason})"
        self.line(exited.at, f"{exited.pod}/{exited.container}", text)

    def fault(self, fault: Fault, start_ns: int, end_ns: int | None) -> None:
        """A fault will happen."""
        self.planned.append((fault, start_ns, end_ns))
        end = None if end_ns is None else end_ns / SECOND
        self.faults.append(FaultSpan(fault.kind, fault.target, fault.label, start_ns / SECOND, end))

    def fault_edge(self, now: int, fault: Fault, edge: Literal["begins", "is over"]) -> None:
        """A fault begins or is over."""
        self.line(now / SECOND, "fault", f"{fault.label} {edge}")

    def line(self, at: float, subject: str, text: str) -> None:
        """Something for the timeline alone."""
        self._lines.append((at, _line(at, subject, text)))
        self._count += 1

    def timeline(self, last: int, more: Iterable[tuple[float, str, str]] = ()) -> list[str]:
        """The latest ``last`` lines, oldest first; ``more`` are lines that were not written when they happened."""
        others = [(at, _line(at, subject, text)) for at, subject, text in more]
        lines = sorted([*self._lines, *others], key=lambda line: line[0])
        shown = [printable(text) for _, text in lines[max(0, len(lines) - last) :]]
        hidden = self._count + len(others) - len(shown)
        return [f"... {hidden} earlier lines"] * (hidden > 0) + shown


def _line(at: float, subject: str, text: str) -> str:
    return f"{at:10.3f} s  {subject}  {text}"
