"""Coverage of the Rust crates by their own tests, from ``cargo tarpaulin``, which counts no line of a test."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tools.coverage.table import Lines

TESTED = ["--workspace", "--exclude", "probelet-bindings", "--exclude", "probelet-benches"]


class NoTools(Exception):
    """This machine has no ``cargo tarpaulin``."""


def measure(root: Path, work: Path) -> dict[str, Lines]:
    """Lines by folder under ``rust/``; ``work`` receives the report. Raises ``NoTools``."""
    if shutil.which("cargo-tarpaulin") is None:
        raise NoTools("no cargo-tarpaulin: cargo install cargo-tarpaulin")
    output = ["--out", "Json", "--output-dir", str(work), "--target-dir", str(root / "target/coverage"), "--skip-clean"]
    # Its other engine follows the tests by ptrace, which some of them do themselves.
    command = ["cargo", "tarpaulin", "--engine", "llvm", "--timeout", "600", *TESTED, *output]
    subprocess.run(command, cwd=root, env={**os.environ, "PROPTEST_RNG_SEED": "1"}, check=True)
    return by_folder(json.loads((work / "tarpaulin-report.json").read_text()), root / "rust")


def by_folder(report: dict[str, Any], rust: Path) -> dict[str, Lines]:
    """Sums for each folder of sources, such as ``core/src/prober``."""
    sums: dict[str, Lines] = {}
    for file in report["files"]:
        path = Path(*file["path"])
        if not path.is_relative_to(rust) or "src" not in path.relative_to(rust).parts:
            continue
        if path.is_relative_to(rust / "bindings"):
            # It has no tests of its own.
            continue
        folder = path.parent.relative_to(rust).as_posix()
        sums[folder] = sums.get(folder, Lines(0, 0)) + Lines(file["coverable"], file["covered"])
    return sums
