from pathlib import Path

import pytest
from probelet.lab.bench.target import program

from tests.unit.cli.conftest import Probelet


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bench htp", 'probelet bench: there is no handler "htp"; did you mean "http"?\n'),
        ("bench http --workers 0", "probelet bench: --workers: must be above 0\n"),
        ("bench http --workers many", '"many" is not a number from 0 to 262144\n'),
        ("bench http --period 1500ms", '"1500ms" is not a whole number of seconds, as periodSeconds is; want 1s or'),
        ("bench http --duration 10", '"10" is not a duration above zero; want for example 60s, 1m30s or 500ms\n'),
        ("bench http --target somewhere:80", 'probelet bench: --target: "somewhere:80": the host must be an IPv4'),
        ("bench http --faulty 127.0.0.1:9", 'probelet bench: --faulty: "127.0.0.1:9": want HOST:PORT=PERCENT'),
        ("bench exec --target 127.0.0.1:9", "probelet bench: --target and --faulty do not apply to exec: "),
    ],
)
def test_bad_usage_is_one_line_without_a_measurement(probelet: Probelet, line: str, message: str) -> None:
    ended = probelet(*line.split())
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "measuring" not in ended.err


def test_a_missing_target_program_is_one_line_that_says_how_to_get_it(
    probelet: Probelet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("probelet.lab.bench.target.BUILD", tmp_path)
    ended = probelet("bench", "http")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("probelet bench: the program probelet-target is missing: ")
    assert "'make build' in a checkout of probelet makes it" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("place", ["beside the interpreter", "in PATH", "in the checkout"])
def test_the_target_program_is_found_in_three_places(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("beside the interpreter", "in PATH", "in the checkout"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr("sys.executable", str(tmp_path / "beside the interpreter" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "in PATH"))
    monkeypatch.setattr("probelet.lab.bench.target.BUILD", tmp_path / "in the checkout")
    made = tmp_path / place / "probelet-target"
    made.touch(mode=0o755)
    assert program() == str(made)
