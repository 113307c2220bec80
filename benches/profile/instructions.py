"""Instruction counts of the core's hot paths, which are the same on a busy machine: ``make bench-instructions``.

Each piece of work runs under callgrind twice, the second time with twice the repetitions; the difference is the cost of
the work alone. The program compares it with the kept counts, and exits with 1 if one has grown by over two per cent.
"""

import json
import re
import shutil
import subprocess
import sys
from typing import Any

from benches.machine import ROOT, machine
from benches.report.results import FOLDER

FILE = FOLDER / "instructions.json"
SCHEMA = "probelet-bench-instructions/1"
TIMES = 5_000
TOLERANCE = 0.02
"""A newer compiler may change the number of instructions."""
COLLECTED = re.compile(r"Collected : (\d+)")


def per_time(fewer: int, more: int, times: int) -> float:
    """Instructions of one repetition, from a run with ``times`` repetitions and a run with twice as many."""
    return round((more - fewer) / times, 1)


def compare(kept: dict[str, float], now: dict[str, float]) -> list[str]:
    """The paths that need more instructions than before, one line each."""
    return [
        f"{name}: {now[name]:,.1f} instructions, {before:,.1f} before (+{now[name] / before - 1:.1%})"
        for name, before in kept.items()
        if name in now and now[name] > before * (1 + TOLERANCE)
    ]


def program(name: str = "instructions") -> str:
    """Builds a benchmark in Rust and returns its executable."""
    build = ["cargo", "bench", "-p", "probelet-benches", "--bench", name, "--no-run", "--message-format=json"]
    lines = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    made = [json.loads(line) for line in lines]
    return next(str(one["executable"]) for one in made if one.get("executable") and one["target"]["name"] == name)


def count(executable: str, name: str, times: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", executable, name, str(times)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = COLLECTED.search(said)
    if found is None:
        raise RuntimeError(f"callgrind did not say what it collected: {said}")
    return int(found[1])


def kept() -> dict[str, Any] | None:
    return json.loads(FILE.read_text()) if FILE.exists() else None


def main() -> int:
    if shutil.which("valgrind") is None:
        print("instructions: no valgrind found, nothing is counted", file=sys.stderr)
        return 3
    executable = program()
    names = subprocess.run([executable], capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {}
    for name in names:
        counts[name] = per_time(count(executable, name, TIMES), count(executable, name, 2 * TIMES), TIMES)
        print(f"{counts[name]:12,.1f} instructions  {name}", flush=True)
    before = kept()
    worse = compare(before["counts"], counts) if before else []
    for line in worse:
        print(f"more than kept in {FILE.relative_to(ROOT)}: {line}", file=sys.stderr)
    if "--keep" in sys.argv or before is None:
        FOLDER.mkdir(exist_ok=True)
        FILE.write_text(json.dumps({"schema": SCHEMA, "machine": machine(), "counts": counts}, indent=1) + "\n")
        return 0
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
