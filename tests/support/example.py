"""Runs an example with an installed probelet, as a stranger would."""

import subprocess
from pathlib import Path
from subprocess import PIPE, STDOUT


def run_an_example(program: str | Path, folder: Path, state_dir: Path) -> None:
    """Runs ``examples/web`` below ``folder`` on the embedded runtime until its container has started, then ends it."""
    flags = ["--listen", "127.0.0.1:0", "--state-dir", str(state_dir), "--duration", "60s"]
    log = []
    with subprocess.Popen(
        [program, "run", "examples/web", *flags], cwd=folder, stdout=PIPE, stderr=STDOUT, text=True
    ) as node:
        assert node.stdout is not None
        for line in node.stdout:
            log.append(line)
            if "container started" in line:
                node.terminate()
    assert (node.returncode, "drained" in log[-1]) == (0, True), log
