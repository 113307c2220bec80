"""Writes what each test came to and took into the file that the variable REPORT names, for the programs that read it.

A line is one phase of one test: ``setup``, ``call`` or ``teardown``. ``seconds`` is wall time, ``cpu`` the processor
time of the process and of the programs that the test started and waited for.
"""

import json
import os
import time
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import NamedTuple, TextIO

import pytest

VARIABLE = "REPORT"


class Phase(NamedTuple):
    """One line of a report."""

    test: str
    when: str
    outcome: str
    seconds: float
    cpu: float
    process: str


class Writer:
    """A pytest plugin of the process that prints. It gets every phase, also those of other processes."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = path.open("w")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        process = getattr(report, "worker_id", "main")
        cpu = getattr(report, "cpu", 0.0)
        phase = Phase(report.nodeid, report.when or "", report.outcome, report.duration, cpu, process)
        self._file.write(json.dumps(phase._asdict()) + "\n")

    def pytest_unconfigure(self) -> None:
        self._file.close()


class Meter:
    """A pytest plugin of the processes that run tests: it adds ``cpu`` to each phase's report."""

    def __init__(self) -> None:
        self._before = 0.0

    def pytest_runtest_logstart(self) -> None:
        self._before = _cpu()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = _cpu()
        report.cpu = now - self._before  # type: ignore[attr-defined]
        self._before = now
        return report


def register(config: pytest.Config) -> None:
    """Adds the plugins. The variable goes, because a test may start a pytest of its own."""
    config.pluginmanager.register(Meter())
    if path := os.environ.pop(VARIABLE, ""):
        config.pluginmanager.register(Writer(Path(path)))


def read(lines: Iterable[str]) -> list[Phase]:
    """The phases of a report, in the order in which they ended."""
    return [Phase(**json.loads(line)) for line in lines]


def _cpu() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
