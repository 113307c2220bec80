"""kubectl and helm: those of the machine, or from the cache of this user."""

import json
import shutil
import subprocess
from pathlib import Path

from tests.cluster.binaries import build as binaries
from tests.cluster.binaries import helm as helm_of_cache
from tests.support.required import missing

DOWNLOAD_SECONDS = 600


def kubernetes() -> Path:
    """The folder of the control plane and kubectl. The test is skipped without them, because a build takes longer than
    all of ``make test``."""
    if why := binaries.what_is_not_built(*binaries.CONTROL_PLANE):
        missing("kubernetes", why)
    return binaries.folder()


def kubectl() -> Path:
    """kubectl, which renders kustomizations without an API server. The test is skipped without it."""
    found = binaries.folder() / "kubectl"
    if not found.exists() and (installed := shutil.which("kubectl")):
        return Path(installed)
    return kubernetes() / "kubectl"


def helm() -> Path:
    """helm 3. The test is skipped without it."""
    if installed := shutil.which("helm"):
        return Path(installed)
    if not helm_of_cache.program().exists():
        missing("helm", "none is installed, and python -m tests.cluster.binaries has built none (Go, two minutes)")
    return helm_of_cache.program()


def run(*command: str | Path) -> str:
    """The output of a program that succeeds."""
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def published(module: str, version: str) -> Path:
    """The files of a Go module, from the module proxy or Go's own cache. The test is skipped without either."""
    if shutil.which("go") is None:
        missing("go", f"which fetches {module}")
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    # Outside of the checkout, so that no module of the tests is asked.
    ended = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)
    if ended.returncode:
        missing("go", f"{module}@{version} cannot be fetched: {ended.stderr.strip() or ended.stdout.strip()}")
    return Path(json.loads(ended.stdout)["Dir"])
