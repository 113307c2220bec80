"""The microbenchmarks' results: collected from criterion and pytest-benchmark, and their part of the page."""

import json
import sys
from pathlib import Path
from typing import Any

from benches.machine import ROOT, machine
from benches.profile import instructions
from benches.report import budget
from benches.report.kept import origin
from benches.report.results import Document, digest, document, load, save

CRITERION = ROOT / "target" / "criterion"
PYTEST = ROOT / "build" / "pytest-benchmark.json"
MEMORY = ROOT / "target" / "memory.json"


def criterion(folder: Path = CRITERION) -> dict[str, float]:
    """Nanoseconds by name, from criterion's files: the slope if there is one, because criterion prints that too."""
    found = {}
    for path in sorted(folder.rglob("new/benchmark.json")):
        name = json.loads(path.read_text())["full_id"]
        estimates = json.loads(path.with_name("estimates.json").read_text())
        found[name] = float((estimates.get("slope") or estimates["mean"])["point_estimate"])
    return found


def pytest_benchmark(path: Path = PYTEST) -> dict[str, float]:
    """Nanoseconds by name: the fastest round, because any disturbance only adds time."""
    tests: list[dict[str, Any]] = json.loads(path.read_text())["benchmarks"] if path.exists() else []
    return {test["name"].removeprefix("test_").replace("_", " "): test["stats"]["min"] * 1e9 for test in tests}


def memory(path: Path = MEMORY) -> dict[str, int]:
    """Bytes by the name of their holder."""
    found: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    return found


def lines() -> list[str]:
    """The microbenchmarks' part of the page; empty if no results were kept."""
    return [*_times(load("micro")), *_counts(instructions.kept())]


def _times(kept: Document | None) -> list[str]:
    if kept is None:
        return []
    rows = [(row["part"], row["name"], row.get("nanoseconds", row.get("bytes"))) for row in kept["rows"]]
    note = "Criterion times one operation of many; pytest-benchmark times everything its name says."
    found = ["## Single parts", "", note, ""]
    found += budget.lines(kept["rows"], budget.read_parts())
    found += grid([(name, value) for part, name, value in rows if part == "criterion"])
    found += ["", "| | |", "|---|---:|"]
    found += [f"| {name} | {time(value)} |" for part, name, value in rows if part == "pytest-benchmark"]
    held = [f"| {name} | {value:,} |" for part, name, value in rows if part == "memory"]
    found += ["", "| bytes of 100,000 idle workers in the core, each | |", "|---|---:|", *held] if held else []
    return [*found, "", f"`{kept['command']}`: {origin(kept['machine'])}; result {kept['digest']}", ""]


def grid(named: list[tuple[str, float]]) -> list[str]:
    """Puts benchmarks that have a size side by side, and the others on a line each."""
    sized: dict[str, dict[int, float]] = {}
    for name, value in named:
        head, _, size = name.rpartition("/")
        if size.isdecimal():
            sized.setdefault(head, {})[int(size)] = value
    sizes = sorted({size for values in sized.values() for size in values})
    table = ["| per one | " + " | ".join(f"{size:,}" for size in sizes) + " |", "|---" + "|---:" * len(sizes) + "|"]
    for head, values in sized.items():
        cells = " | ".join(time(values[size]) if size in values else "" for size in sizes)
        table.append(f"| {head} | {cells} |")
    single = [(name, value) for name, value in named if not name.rpartition("/")[2].isdecimal()]
    return table + ["", "| | |", "|---|---:|"] + [f"| {name} | {time(value)} |" for name, value in single]


def time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}" if nanoseconds < 1000 * size else f"{nanoseconds / size:,.0f} {unit}"
            )
    return f"{nanoseconds:.3g} ns"


def _counts(kept: dict[str, Any] | None) -> list[str]:
    if kept is None:
        return []
    rows = [f"| {name} | {count:,.0f} |" for name, count in kept["counts"].items()]
    head = ["## Instructions", "", "`make bench-instructions`, counted by callgrind: what a regression shows in.", ""]
    return [*head, "| one | instructions |", "|---|---:|", *rows, ""]


def main() -> int:
    found = [("criterion", criterion()), ("pytest-benchmark", pytest_benchmark())]
    rows = [
        {"part": part, "name": name, "nanoseconds": round(value, 2)}
        for part, values in found
        for name, value in values.items()
    ]
    rows += [{"part": "memory", "name": name, "bytes": value} for name, value in memory().items()]
    path = save(document("micro", ["make", "bench-micro"], machine(), rows))
    print(f"written: {path.relative_to(ROOT)}, result {digest(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
