"""Coverage of ``python/probelet`` and ``conformance`` by the Python tests that start no real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tools.coverage.table import Lines


def measure(root: Path, work: Path) -> dict[str, Lines]:
    """Lines by package under ``python/probelet``, and those of ``conformance``."""
    report = work / "python.json"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--timeout", "300", "--cov-report="]
    measured = ["--cov=probelet", "--cov=probelet_conformance"]
    environment = {**os.environ, "COVERAGE_FILE": str(work / "python.data")}
    subprocess.run([*command, *measured, f"--cov-report=json:{report}"], cwd=root, env=environment, check=True)
    return by_package(json.loads(report.read_text()))


def by_package(report: dict[str, Any]) -> dict[str, Lines]:
    """Sums for each package of ``probelet``; what protoc wrote is not counted."""
    sums: dict[str, Lines] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        if "_pb2" in name:
            continue
        if "probelet_conformance" in parts:
            package = "conformance"
        else:
            inside = parts[parts.index("probelet") :]
            package = inside[1] if len(inside) > 2 else "."
        summary = file["summary"]
        sums[package] = sums.get(package, Lines(0, 0)) + Lines(summary["num_statements"], summary["covered_lines"])
    return sums
