"""Where a result comes from: a figure without its machine and commit is worth nothing."""

import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def machine() -> dict[str, str]:
    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "rust": _output("rustc", "--version"),
        "commit": _output("git", "describe", "--always", "--dirty"),
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
