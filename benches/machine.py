"""The machine and commit of a result, because a figure without them is worth nothing."""

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parent.parent


def machine() -> dict[str, str]:
    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "rust": _output("rustc", "--version"),
        "go": _output("go", "env", "GOVERSION"),
        "kubelet": _module("kubelet", "k8s.io/kubernetes"),
        "blackbox_exporter": _module("blackbox", "github.com/prometheus/blackbox_exporter"),
        "aiohttp": version("aiohttp"),
        "commit": _output("git", "describe", "--always") + ("-dirty" if _changed() else ""),
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


RENDERED: Final = ("benches/results", "benches/*.md", "docs/cluster/scale.md")
"""The measurements of a day write these one after the other."""


def _changed() -> bool:
    """True if any file except the results differs from the commit."""
    return bool(_output("git", "status", "--porcelain", "--", ".", *(f":!{path}" for path in RENDERED)))


def _module(peer: str, module: str) -> str:
    """The version of a module in the build of a peer written in Go."""
    text = (ROOT / "benches" / "peers" / peer / "go.mod").read_text()
    found = re.search(rf"^\s*{re.escape(module)} (v\S+)", text, re.MULTILINE)
    return found[1] if found else "unknown"


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
