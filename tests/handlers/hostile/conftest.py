"""Starts the process of the hostile targets, and plays all cases of a module against it side by side."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, attempt
from tests.support.paths import BUILD, ROOT

# Attempts at a time: an attempt mostly waits; more of them would make the prober late by their number alone.
PLAYED_AT_A_TIME = 12


@pytest.fixture(scope="session")
def ports() -> Iterator[dict[str, int]]:
    """The port of every behaviour."""
    command = [sys.executable, "-m", "tests.handlers.hostile.target"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


@pytest.fixture(scope="session")
def healthy_port() -> Iterator[int]:
    """A service that always answers 200, in a process of its own."""
    with subprocess.Popen([BUILD / "target", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.kill()


@pytest.fixture(scope="module")
def report_of(request: pytest.FixtureRequest, ports: dict[str, int]) -> Iterator[Callable[[Case], ProbeReport]]:
    """Plays the selected cases of the module side by side; returns the report of a case."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    mine = [item.callspec.params.get("case") for item in items if item.module is request.module]
    with ThreadPoolExecutor(PLAYED_AT_A_TIME) as pool:
        played: dict[Case, Future[ProbeReport]] = {
            case: pool.submit(attempt, case, ports) for case in mine if isinstance(case, Case)
        }
        yield lambda case: played[case].result()
