"""How long a simulation will take, said on stderr."""

import io
import sys
import time

import pytest
from probelet.cli.simulate.progress import ProgressLine
from probelet.lab.simulate import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def played(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, start: float, part: float, plays: int) -> str:
    """What is written if everything starts in ``start`` seconds and each of 50 parts takes ``part``."""
    clock = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", stream)
    line = ProgressLine(plays)
    clock[0] += start
    for number in range(1, 51):
        clock[0] += part
        line(Progress("manifests", number / 50))
    line.end()
    return stream.getvalue()


def test_a_long_simulation_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(monkeypatch, io.StringIO(), 5.0, 5.0, 3) == (
        "probelet simulate: this may take 13 minutes; Ctrl-C ends it with what there is so far\n"
    )


def test_one_of_ten_minutes_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(monkeypatch, io.StringIO(), 5.0, 5.0, 2) == ""


def test_a_slow_start_is_no_slow_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(monkeypatch, io.StringIO(), 60.0, 0.1, 7) == ""


def test_a_terminal_shows_the_progress_and_keeps_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = played(monkeypatch, Terminal(), 0.0, 0.1, 1)
    assert "manifests:  50%" in written
    assert "manifests:   2%" not in written
    assert written.endswith("\r\x1b[K")
