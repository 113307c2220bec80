"""Every bench runs once, with its smallest arguments."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROOT = Path(__file__).parent.parent.parent


PYTHON = ["pytest", "-q", "-m", "bench", "--benchmark-disable", "--timeout", "240", "benches/python"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["benches", "smoke"], id="benches"),
        pytest.param(["benches.admission", "--rate", "20", "--seconds", "1"], id="benches.admission"),
        pytest.param(PYTHON, id="pytest"),
    ],
)
def test_a_bench_runs(arguments: list[str]) -> None:
    bench = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert bench.returncode == 0, bench.stdout + bench.stderr
