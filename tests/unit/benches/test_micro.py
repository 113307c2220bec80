"""The result files of the microbenchmark tools become one table."""

import json
from pathlib import Path

import pytest

from benches.profile.instructions import compare, per_time
from benches.report.micro import criterion, grid, pytest_benchmark, time


def test_the_estimate_of_criterion_is_the_slope_or_else_the_mean(tmp_path: Path) -> None:
    for name, estimates in {
        "arm/wheel/1000": {"slope": None, "mean": {"point_estimate": 9.5}},
        "take": {"slope": {"point_estimate": 4.0}, "mean": {"point_estimate": 5.0}},
    }.items():
        folder = tmp_path / name.replace("/", "_") / "new"
        folder.mkdir(parents=True)
        (folder / "benchmark.json").write_text(json.dumps({"full_id": name}))
        (folder / "estimates.json").write_text(json.dumps(estimates))
    assert criterion(tmp_path) == {"arm/wheel/1000": 9.5, "take": 4.0}


def test_pytest_benchmark_is_read_in_nanoseconds(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"benchmarks": [{"name": "test_define_a_pod", "stats": {"min": 2e-6}}]}))
    assert pytest_benchmark(file) == {"define a pod": pytest.approx(2000)}
    assert pytest_benchmark(tmp_path / "none") == {}


def test_the_sizes_of_one_benchmark_stand_side_by_side() -> None:
    rows = grid([("arm/wheel/1000", 9.5), ("arm/wheel/100", 8), ("arm/heap/1000", 50), ("bucket/take", 4)])
    assert rows[0] == "| per one | 100 | 1,000 |"
    assert "| arm/wheel | 8 ns | 9.5 ns |" in rows
    assert "| arm/heap |  | 50 ns |" in rows
    assert rows[-1] == "| bucket/take | 4 ns |"


@pytest.mark.parametrize(
    ("nanoseconds", "text"), [(0.5, "0.5 ns"), (999, "999 ns"), (1234, "1.23 µs"), (5e7, "50 ms"), (2.5e9, "2.5 s")]
)
def test_a_time_has_three_digits_and_a_unit(nanoseconds: float, text: str) -> None:
    assert time(nanoseconds) == text


def test_instructions_per_time_leave_out_the_setup() -> None:
    assert per_time(fewer=1_000_000, more=1_050_000, times=500) == 100


def test_a_count_that_grew_by_more_than_the_tolerance_is_a_regression() -> None:
    kept = {"run": 100.0, "wheel": 50.0, "gone": 1.0}
    assert compare(kept, {"run": 101.9, "wheel": 40.0, "new": 9.0}) == []
    assert compare(kept, {"run": 103.0, "wheel": 50.0}) == ["run: 103.0 instructions, 100.0 before (+3.0%)"]
