"""Work of one pod that runs at the same time, without a clock and without a loop.

A strand is a generator that yields what it waits for: the answer to a ``Call``, its ``Turn``, or the end of
``Branches`` of its own. The kubelet's goroutines (kuberuntime_container.go:killContainersWithSyncResult, 1.36) become
strands, so that their actions depend only on the inputs and their order.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import msgspec

from probelet.policy.protocol.effects import Effect, Outcome


class Call(msgspec.Struct, frozen=True):
    """These effects, at the same time; the strand is sent their outcomes when all have ended."""

    effects: tuple[Effect, ...]


class Turn(msgspec.Struct, frozen=True):
    """Until ``ready``, and no longer than ``deadline_ns``; None: for as long as it takes."""

    ready: Callable[[], bool]
    deadline_ns: int | None = None


class Branches(msgspec.Struct, frozen=True):
    """These strands, at the same time; the strand is sent what each returned when all have ended."""

    strands: "tuple[Strand[Any], ...]"


Wait: TypeAlias = Call | Turn | Branches
T = TypeVar("T")
Strand: TypeAlias = Generator[Wait, Any, T]


def call(*effects: Effect) -> Strand[tuple[Outcome, ...]]:
    """Perform these effects and return their outcomes, in their order."""
    outcomes: tuple[Outcome, ...] = yield Call(effects)
    return outcomes


def sleep_until(deadline_ns: int) -> Strand[None]:
    """Wait for a time."""
    yield Turn(lambda: False, deadline_ns)


@dataclass(slots=True, eq=False)
class _Running:
    strand: Strand[Any]
    parent: "_Running | None" = None
    index: int = 0
    # How many of the branches that it waits for have not ended.
    open: int = 0
    results: list[Any] = field(default_factory=list)


class Strands:
    """Strands stepped in the order in which they began. ``perform`` sends effects on their way, returning a ticket."""

    def __init__(self, perform: Callable[[tuple[Effect, ...]], int]) -> None:
        self._perform = perform
        self._calls: dict[int, tuple[_Running, tuple[Effect, ...]]] = {}
        self._turns: list[tuple[_Running, Turn]] = []
        self._running = 0

    def begin(self, strand: Strand[Any]) -> None:
        """Run a strand until it has to wait for the first time."""
        self._begin(_Running(strand))

    @property
    def idle(self) -> bool:
        """Whether every strand has ended."""
        return self._running == 0

    @property
    def deadline_ns(self) -> int | None:
        """When to call ``look`` even without another input."""
        return min((turn.deadline_ns for _, turn in self._turns if turn.deadline_ns is not None), default=None)

    def calls(self) -> Iterator[tuple[int, tuple[Effect, ...]]]:
        """Tickets that are not answered yet, with their effects."""
        return ((ticket, effects) for ticket, (_, effects) in self._calls.items())

    def waits_for(self, ticket: int) -> bool:
        """Whether one of the strands waits for this ticket."""
        return ticket in self._calls

    def answer(self, ticket: int, outcomes: tuple[Outcome, ...]) -> None:
        """A call has ended: its strand goes on."""
        running, _ = self._calls.pop(ticket)
        self._step(running, outcomes)

    def resume(self, now: int) -> None:
        """Let every strand go on whose turn has come, again and again: one strand may have waited for another."""
        while self._turns and (due := next((entry for entry in self._turns if _is_due(entry[1], now)), None)):
            self._turns.remove(due)
            self._step(due[0], None)

    def drop(self, ticket: int) -> None:
        """Drop an answer that came too late; its strand goes no further."""
        del self._calls[ticket]

    def _begin(self, running: _Running) -> None:
        self._running += 1
        self._step(running, None)

    def _step(self, running: _Running, value: Any) -> None:
        try:
            wait = running.strand.send(value)
        except StopIteration as end:
            self._ended(running, end.value)
            return
        match wait:
            case Call(effects):
                self._calls[self._perform(effects)] = (running, effects)
            case Turn():
                self._turns.append((running, wait))
            case Branches(strands):
                self._branch(running, strands)

    def _branch(self, parent: _Running, strands: tuple[Strand[Any], ...]) -> None:
        parent.open, parent.results = len(strands), [None] * len(strands)
        if not strands:
            self._step(parent, [])
        for index, strand in enumerate(strands):
            self._begin(_Running(strand, parent, index))

    def _ended(self, running: _Running, value: Any) -> None:
        self._running -= 1
        parent = running.parent
        if parent is None:
            return
        parent.results[running.index] = value
        parent.open -= 1
        if parent.open == 0:
            self._step(parent, parent.results)


def _is_due(turn: Turn, now: int) -> bool:
    return turn.ready() or (turn.deadline_ns is not None and turn.deadline_ns <= now)
