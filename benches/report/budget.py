"""The figures that probelet must reach, and whether it does."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.machine import ROOT
from benches.report.statistic import Row, median, of, ratio

FILE = ROOT / "benches" / "budgets.toml"
WHO = "probelet"
TIMES = {"burst": "burst_ms", "add": "add_ms"}
"""Figures that are ratios of two engines' times."""
UNITS = {"cpu": "x", "burst": "x", "add": "x", "lateness_ms.p99": "ms", "add_ms": "ms", "bytes_per_worker": "bytes"}
"""The unit of each figure that is neither a share nor a count."""


@dataclass(frozen=True)
class Budget:
    text: str
    scenario: str
    figure: str
    max: float
    note: str = ""
    engine: str = WHO
    """The engine that must reach the figure."""

    def value(self, rows: list[Row]) -> float | None:
        """The measured figure; None if the scenario, or the engine in the comparison, was not measured."""
        kind, _, base = self.figure.partition("/")
        if kind == "cpu":
            return ratio(rows, self.scenario, self.engine, base)
        mine = of(rows, self.scenario, self.engine)
        if kind in TIMES:
            ours, theirs = (median(of(rows, self.scenario, name), TIMES[kind]) for name in (self.engine, base))
            return ours / theirs if ours and theirs else None
        if kind == "shortfall":
            made, due = median(mine, "probes_per_second"), median(mine, "expected_per_second")
            return None if made is None or due is None else max(0.0, 1 - made / due)
        if kind == "false_failures":
            # One is too many, in whichever round.
            return float(sum(row[kind] for row in mine)) if mine else None
        return median(mine, *self.figure.split("."))

    def words(self, rows: list[Row], value: float) -> str:
        """The figure with its unit; a count of probes with the count that it is a part of."""
        kind = self.figure.partition("/")[0]
        mine = of(rows, self.scenario, self.engine)
        if kind == "false_failures":
            return f"{value:,.0f} of {sum(row['probes'] for row in mine):,} probes"
        if kind == "shortfall":
            made, due = (median(mine, f"{which}_per_second") for which in ("probes", "expected"))
            return f"{made:,.0f} of {due:,.0f} probes a second"
        if kind == "cores":
            return f"{100 * value:.0f} % of a core"
        return f"{figure(value)} {UNITS[kind]}"


@dataclass(frozen=True)
class PartBudget:
    """A budget for a single part, in nanoseconds or bytes, or as a ratio."""

    text: str
    name: str
    max: float
    per: int = 1
    """How many operations the benchmark times at once."""
    over: str = ""
    """The name of another part: the budget is the ratio to it."""
    note: str = ""

    def value(self, rows: list[Row]) -> float | None:
        found = next((row for row in rows if row["name"] == self.name), None)
        base = next((row for row in rows if row["name"] == self.over), None)
        if found is None or (self.over and base is None):
            return None
        return float(found[_unit(found)]) / (self.per if base is None else float(base[_unit(base)]))

    def words(self, rows: list[Row], value: float) -> str:
        if self.over:
            return f"{figure(value)} x"
        unit = next(_unit(row) for row in rows if row["name"] == self.name)
        return f"{figure(value)} {'ns' if unit == 'nanoseconds' else unit}"


def _unit(row: Row) -> str:
    return "nanoseconds" if "nanoseconds" in row else "bytes"


def read(path: Path = FILE) -> list[Budget]:
    return [Budget(**table) for table in _tables(path, "budget")]


def read_parts(path: Path = FILE) -> list[PartBudget]:
    return [PartBudget(**table) for table in _tables(path, "part")]


def _tables(path: Path, name: str) -> list[dict[str, Any]]:
    """The tables of this name; a ``note`` that is a name in ``[notes]`` stands for that text."""
    document = tomllib.loads(path.read_text())
    notes = document.get("notes", {})
    return [{**table, "note": notes.get(table.get("note"), table.get("note", ""))} for table in document[name]]


def lines(rows: list[Row], budgets: Sequence[Budget | PartBudget]) -> list[str]:
    """A table of the measured budgets, and the notes of the missed ones, each once."""
    found = [(budget, value) for budget in budgets if (value := budget.value(rows)) is not None]
    if not found:
        return []
    table = ["| budget | measured | |", "|---|---|---|"]
    missed: dict[str, list[str]] = {}
    for budget, value in found:
        reached = value <= budget.max
        table.append(f"| {budget.text} | {budget.words(rows, value)} | {'reached' if reached else '**not reached**'} |")
        if not reached and budget.note:
            missed.setdefault(budget.note, []).append(budget.text)
    notes = [f"- {'; '.join(texts)}: {note}" for note, texts in missed.items()]
    return [*table, "", *([*notes, ""] if notes else [])]


def figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.2f}"
