"""The demo of ``make demo``, without make."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "examples.demo"]
DENSITY_SECONDS = 2
"""In the place of the demo's ten: five thousand probes a second take much of a core."""
SHORTER = f"""
from examples.demo import __main__ as demo, density
density.SECONDS = {DENSITY_SECONDS}
raise SystemExit(demo.main())
"""


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory with a short name: sockets are made in it, and their paths may have 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="pd-", dir="/tmp") as folder:
        yield Path(folder)


def test_every_example_does_what_the_demo_expects(short_path: Path) -> None:
    demo = subprocess.run(
        [sys.executable, "-c", SHORTER],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(short_path)},
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "deadlock: liveness 3 of 3 failed, SIGTERM, grace 2 s" in demo.stdout
    # The result has a row with the back-off; the timeline has it only if the demo saw the wait begin.
    assert "crash-looper: restart 2, " in demo.stdout
    assert list(short_path.iterdir()) == []


def test_ctrl_c_leaves_nothing_behind(short_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(short_path)}
    demo = subprocess.Popen(
        COMMAND, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    with demo:
        assert demo.stdout is not None
        while "started" not in demo.stdout.readline():
            assert demo.poll() is None
        os.killpg(demo.pid, signal.SIGINT)
        demo.stdout.read()
    assert demo.returncode == 130
    assert processes_below(short_path) == []
    assert list(short_path.iterdir()) == []


def processes_below(folder: Path) -> list[str]:
    """Command lines that name the demo's state directory: the service, the runtime, its guard."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # The process ended during the listing.
        if str(folder) in line:
            found.append(line)
    return found
