"""Every bench runs once, with its smallest arguments."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parent.parent.parent


PYTHON = ["pytest", "-q", "-m", "bench", "--benchmark-disable", "--timeout", "240", "benches/python"]
LONG = "slowest_answers or a_million_pods or a_day_of_1000_pods"
"""Benches of the Python package that take seconds of a core even once."""


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["benches", "smoke"], id="benches"),
        pytest.param(["benches.admission", "--rate", "20", "--seconds", "1"], id="benches.admission"),
        pytest.param([*PYTHON, "-k", f"not ({LONG})"], id="pytest"),
        pytest.param([*PYTHON, "-k", LONG], id="pytest-long", marks=pytest.mark.slow),
    ],
)
def test_a_bench_runs(arguments: list[str]) -> None:
    bench = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert bench.returncode == 0, bench.stdout + bench.stderr
