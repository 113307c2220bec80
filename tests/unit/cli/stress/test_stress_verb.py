import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Probelet


def test_each_combination_of_flags_is_a_scene(probelet: Probelet) -> None:
    line = "stress --curve 10/300 --curve 1/60 --pods 2 --run 0s --run 10s --duration 60s -o json"
    ended = probelet(*line.split())
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["schema"] == "probelet-stress/1"
    assert [(one["name"], one["restarts"], one["exact"]) for one in found["outcomes"]] == [
        ("10/300 pods=2", 6, True),
        ("10/300 pods=2 run=10s", 6, True),
        ("1/60 pods=2", 12, True),
        ("1/60 pods=2 run=10s", 8, True),
    ]


def test_a_table_and_a_report(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("stress", "--pods", "1", "--duration", "30s", "--report", str(tmp_path / "new"))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[1].split() == ["1/60", "pods=1", "30", "5", "5", "yes", "0", "18", "3.60"]
    assert ended.out.endswith(f"written: {tmp_path / 'new' / 'report.md'}\n")


def test_an_unwritable_report_is_an_error_before_the_first_scene(probelet: Probelet, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    ended = probelet("stress", "--report", str(tmp_path / "taken"))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"probelet stress: --report: {tmp_path / 'taken'}: File exists\n"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (
            "--pods 0 --containers 2 --failing 3 --curve x --api-qps -1 --kill 1500ms",
            [
                '--curve: "x" is not a curve; want INITIAL/MAX, for example 10s/5m or 1/60',
                "--pods: 0: must be between 1 and 10,000",
                "--failing: 3: must be between 0 and 1",
                "--api-qps: -1: must be between 0 and 100,000",
                "--containers: 2: must be 1 or 3",
                "--kill: must be whole seconds, at least 1, like initialDelaySeconds",
            ],
        ),
        (
            "--run 1s --kill 5s",
            ["--run and --kill: use only one of them, since a container ends by itself or by a kill"],
        ),
        ("--matrix --pods 3", ["--matrix has its own scenes: leave out the flags of a scene"]),
        ("--repeat 2", ["--warm-up and --repeat need --real: in virtual time every run is the same"]),
        ("--real --duration 5s --warm-up 5s", ["--warm-up: must be shorter than --duration"]),
    ],
)
def test_each_mistake_is_a_line(probelet: Probelet, line: str, lines: list[str]) -> None:
    ended = probelet("stress", *line.split())
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines() == [f"probelet stress: {message}" for message in lines]
