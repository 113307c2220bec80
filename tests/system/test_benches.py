"""Every bench runs once, with its smallest arguments."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "arguments",
    [
        ["benches", "smoke"],
        ["benches.admission", "--rate", "20", "--seconds", "1"],
        ["pytest", "-q", "-m", "bench", "--benchmark-disable", "--timeout", "240", "benches/python"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_bench_runs(arguments: list[str]) -> None:
    bench = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert bench.returncode == 0, bench.stdout + bench.stderr
