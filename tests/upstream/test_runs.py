"""The runs one after another: one that breaks off keeps nothing and stops no other."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tests.upstream.__main__ as command
from tests.upstream.report import UnfinishedError
from tests.upstream.row import Row
from tests.upstream.side import Side

PROGRAMS = object()


def played(test: str, state: str = "passed") -> list[Row]:
    return [Row(group="Probing container", test=test, state=state, seconds=1.0)]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[Side]:
    """The sides whose run was written; nothing is built."""
    kept: list[Side] = []
    monkeypatch.setattr(command, "build", lambda: PROGRAMS)
    monkeypatch.setattr(command, "write", lambda side, *_: kept.append(side))
    return kept


@pytest.mark.parametrize(
    "error",
    [UnfinishedError("Suite Timeout Elapsed"), OSError("no space"), subprocess.TimeoutExpired("ginkgo", 4500)],
)
def test_a_run_that_breaks_off_keeps_nothing_and_the_others_go_on(
    kept: list[Side], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def play(side: Side, *_: object) -> list[Row]:
        if side is Side.TAKEN:
            raise error
        return played("restarts")

    monkeypatch.setattr(command, "_play", play)
    assert not command.play_all(list(Side), None, 6)
    assert kept == [Side.NATIVE, Side.ENHANCED, Side.SERVED]
    assert capsys.readouterr().err == f"taken over: the run broke off: {error}\n"


@pytest.mark.parametrize(("state", "good"), [("passed", True), ("failed", False)])
def test_a_trial_of_some_tests_keeps_nothing_and_says_whether_they_passed(
    kept: list[Side], monkeypatch: pytest.MonkeyPatch, state: str, good: bool
) -> None:
    monkeypatch.setattr(command, "_play", lambda *_: played("restarts", state))
    assert command.play_all([Side.NATIVE], "restarts", 6) == good
    assert kept == []


@pytest.mark.parametrize(("sides", "needs"), [([Side.NATIVE], False), (list(Side), True)])
def test_what_is_missing_is_said_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sides: list[Side], needs: bool
) -> None:
    which: Callable[[str], str | None] = lambda program: f"/usr/bin/{program}"  # noqa: E731
    monkeypatch.setattr(command.shutil, "which", which)
    monkeypatch.setattr(command, "missing_for_a_cluster", lambda: "")
    monkeypatch.setattr(command, "IMAGE", tmp_path / "probelet.tar")
    assert command.what_is_missing(sides) == (f"no {tmp_path}/probelet.tar, which `make image` makes" if needs else "")
    monkeypatch.setattr(command.shutil, "which", lambda program: None if program == "cc" else which(program))
    assert command.what_is_missing(sides) == "no cc"
