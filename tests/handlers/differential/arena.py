"""Plays each case with both probers against one server."""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from tests.handlers.differential import probers
from tests.handlers.differential.case import Case
from tests.handlers.differential.compare import Difference, Kind, differences
from tests.handlers.differential.generator import case_of
from tests.handlers.differential.server import Server
from tests.handlers.differential.shrink import shrunk

# Cases at a time: a case mostly waits for the other side; more cases would make the probers late on two cores.
ARENAS = 6
# A difference that does not repeat comes from a race of the sockets, not from the code.
CONFIRMATIONS = 2
# A reader of the report has enough with this many.
SHAPES_MAX = 40


class Arena:
    """A server and a Go prober of its own."""

    def __init__(self, program: Path) -> None:
        self._server = Server()
        self._go = probers.Go(program)

    def __enter__(self) -> "Arena":
        self._server.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._go.__exit__(kind, error, at)
        self._server.__exit__(kind, error, at)

    def play(self, case: Case) -> list[Difference]:
        """Runs our prober and Go's, and returns what differs."""
        case = case.filled(self._server.ports)
        port = self._server.ports["PORT"]
        self._server.begin(case.answers)
        ours = probers.probe(case, port)
        sent = self._server.received()
        self._server.begin(case.answers)
        theirs = self._go.probe(case, port)
        return list(differences(ours, theirs, sent, self._server.received()))

    def confirmed(self, case: Case) -> list[Difference]:
        """Plays the case again if it differs; returns the differences of every run."""
        found = self.play(case)
        for _ in range(CONFIRMATIONS):
            if found:
                kinds = {difference.kind for difference in self.play(case)}
                found = [difference for difference in found if difference.kind in kinds]
        return found

    def shrunk(self, case: Case, kinds: frozenset[Kind]) -> Case:
        """A smaller case that still differs in one of ``kinds``."""
        return shrunk(case, lambda smaller: any(difference.kind in kinds for difference in self.play(smaller)))


@dataclass(frozen=True)
class Finding:
    """A case that differs, after shrinking."""

    seed: int
    number: int
    case: Case
    differences: tuple[Difference, ...]

    @property
    def shape(self) -> tuple[str, ...]:
        return tuple(difference.shape for difference in self.differences)

    def lines(self) -> Iterator[str]:
        """The finding as text, with the command that plays it again."""
        yield f".venv/bin/python -m tests.handlers.differential --seed {self.seed} --case {self.number}"
        yield from (f"  {line}" for line in self.case.lines())
        yield from (f"  {difference}" for difference in self.differences)


@dataclass
class Report:
    """The result of many cases: their counts, and the first finding of every shape."""

    cases: int = 0
    unsteady: int = 0
    differ: int = 0
    findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        self.differ += 1
        if finding.shape not in self.findings and not self.is_full:
            self.findings[finding.shape] = finding

    @property
    def is_full(self) -> bool:
        return len(self.findings) >= SHAPES_MAX

    def lines(self) -> Iterator[str]:
        """The report as text."""
        for finding in self.findings.values():
            yield from finding.lines()
        yield f"{self.cases} cases: {self.differ} differ, {self.unsteady} not every time"


def compare(program: Path, numbers: Iterable[tuple[int, int]], until: float = float("inf")) -> Report:
    """Plays the cases of ``numbers`` (seed, number) in ``ARENAS`` threads, until `time.monotonic()` is ``until``."""
    report, guard, left = Report(), threading.Lock(), iter(numbers)

    def work() -> None:
        with Arena(program) as arena:
            while time.monotonic() < until and not report.is_full:
                with guard:
                    taken = next(left, None)
                if taken is None:
                    return
                play(arena, *taken)

    def play(arena: Arena, seed: int, number: int) -> None:
        case = case_of(seed, number)
        seen = arena.play(case)
        found = arena.confirmed(case) if seen else []
        finding = None
        if found:
            small = arena.shrunk(case, frozenset(difference.kind for difference in found))
            finding = Finding(seed, number, small, tuple(arena.play(small) or found))
        with guard:
            report.cases += 1
            report.unsteady += bool(seen) and not found
            if finding is not None:
                report.add(finding)

    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(ARENAS))
        for done in [pool.submit(work) for _ in range(ARENAS)]:
            done.result()
    return report
