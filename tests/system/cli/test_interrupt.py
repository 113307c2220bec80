"""Ctrl-C ends the command line at any moment without a traceback."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.system.cli.conftest import wait_for

pytestmark = pytest.mark.e2e

WEB = "examples/deployment/web.yaml"
VERBS = {
    "explain": (WEB,),
    "lint": (WEB,),
    "simulate": (WEB, "--scenario", "rolling-restart"),
    "run": ("examples/deadlock", "--listen", "127.0.0.1:0"),
    "help": (),
}
FIRST, STEP = 2, 5
"""Ticks of processor time before the first moment, and between two."""
SOME = range(0, 10, 4)
"""Moments of each verb's first half second that `make test` tries; `make test-release` tries the others."""
OTHERS = [moment for moment in range(10) if moment not in SOME]


def ticks(pid: int) -> int:
    """The processor time of a process, in the kernel's ticks of mostly 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


class Begun:
    """Whether our code runs. The interpreter catches SIGINT at the end of its own start, which is not ours to mend, and
    the first thing that ``main`` does is to catch it no more."""

    def __init__(self, pid: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._was_caught = False
        self._is_begun = False

    def __call__(self) -> bool:
        caught = int(self._status.read_text().partition("SigCgt:\t")[2].split()[0], 16)
        is_caught = bool(caught & 1 << (signal.SIGINT - 1))
        self._is_begun |= self._was_caught and not is_caught
        self._was_caught |= is_caught
        return self._is_begun


def interrupt_at(process: "subprocess.Popen[str]", moment: int, verb: str, answers: Path) -> None:
    """Sends SIGINT after so many steps of processor time, unless the process has ended before."""
    begun, wanted = Begun(process.pid), FIRST + moment * STEP

    def is_there() -> bool:
        # A service that answers waits for its probes. It may never use the time of a late moment, and on a busy
        # machine nobody may have seen when its code began.
        is_over = process.poll() is not None or answers.exists()
        return is_over or (begun() and ticks(process.pid) >= wanted)

    wait_for(is_there, f"moment {moment} of {verb}")
    if process.poll() is None:
        os.kill(process.pid, signal.SIGINT)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "moments", [pytest.param(SOME, id="some"), pytest.param(OTHERS, id="others", marks=pytest.mark.slow)]
)
def test_no_moment_of_a_verb_ends_in_a_traceback(verb: str, moments: Iterable[int], tmp_path: Path) -> None:
    for moment in moments:
        folder = tmp_path / f"{moment}"
        state = ("--state-dir", str(folder)) if verb == "run" else ()
        with (
            subprocess.Popen(
                [sys.executable, "-m", "probelet", verb, *VERBS[verb], *state],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            ) as process,
            ExitStack() as stack,
        ):
            # A test that fails leaves nothing behind.
            stack.callback(process.kill)
            interrupt_at(process, moment, verb, folder / "control.sock")
            _, text = process.communicate(timeout=PATIENCE_SECONDS)
        assert "Traceback" not in text, text
        assert "KeyboardInterrupt" not in text, text


INTERRUPTED = """
import sys
from probelet.cli import app

def interrupted(arguments):
    raise KeyboardInterrupt

app.run_command = interrupted
sys.argv = ["probelet", *sys.argv[1:]]
app.main()
"""


@pytest.mark.parametrize(
    ("verb", "code"),
    [("lint", -signal.SIGINT), ("simulate", -signal.SIGINT), ("replay", -signal.SIGINT), ("top", 0), ("run", 0)],
)
def test_a_verb_without_its_verdict_is_no_success(verb: str, code: int) -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED, verb], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (code, "")
