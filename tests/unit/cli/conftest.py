"""The shipped command line with the real server: a verb runs in a thread, the server on the test's loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from probelet.cli.app import run_command
from probelet.server.control.server import ControlServer
from probelet.server.control.state_dir import locked_state_dir

from tests.unit.server.fake_view import FakeView


@dataclass
class Ended:
    code: int
    out: str
    err: str


Probelet = Callable[..., Ended]
AskService = Callable[..., Coroutine[Any, Any, Ended]]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs write to a pipe of 80 columns without colours, whatever terminal the tests run in."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def probelet(capsys: pytest.CaptureFixture[str]) -> Probelet:
    """Runs a command line in this thread."""

    def run(*arguments: str) -> Ended:
        code = run_command(list(arguments))
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run


@dataclass
class Service:
    view: FakeView
    control: ControlServer
    ask: AskService


@pytest_asyncio.fixture
async def service(tmp_path: Path, probelet: Probelet) -> AsyncIterator[Service]:
    """A service with a fake view, and a function that runs a verb on it."""
    view = FakeView()
    with locked_state_dir(tmp_path / "state") as state_dir:
        control = ControlServer(view, view, state_dir)
        await control.start()

        async def ask(*arguments: str) -> Ended:
            return await asyncio.to_thread(probelet, *arguments, "--state-dir", str(state_dir))

        yield Service(view, control, ask)
        await control.close()
