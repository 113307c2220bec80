"""An engine: a program that takes a load on its command line and prints one JSON object."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "build"
PYTHON = sys.executable


@dataclass(frozen=True)
class Engine:
    """A prober under measurement.

    ``program HANDLER --target ADDRESS/BITS:PORT --workers N --period Ns --warm Ns --duration Ns`` and, where a scenario
    has them, ``--faulty``, ``--burst``, ``--churn`` and ``--restarts``. It says "measuring" and "measured" on stderr
    when the measured time begins and ends, and prints an object of schema probelet-bench/1.
    """

    name: str
    title: str
    program: tuple[str, ...]
    flags: tuple[str, ...] = ()
    needs: Path | None = None
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other programs, by handler name; such a program does not get ``flags``."""

    def asked(self, handler: str, given: list[str]) -> list[str]:
        """Returns the command line."""
        if handler in self.instead:
            return [*self.instead[handler], handler, *given]
        return [*self.program, handler, *given, *self.flags]

    def missing(self) -> str | None:
        """Returns why this machine cannot measure the engine."""
        if self.needs is None or self.needs.exists():
            return None
        return f"{self.name}: {self.needs.relative_to(ROOT)} was not built (it needs Go), its rows are left out"
