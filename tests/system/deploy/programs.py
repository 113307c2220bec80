"""kubectl and helm: those of the machine, or from the cache of this user, into which helm is built."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.cluster.binaries import build as binaries
from tests.support.required import missing

HELM = "v3.22.0"
HELM_MODULE = "helm.sh/helm/v3/cmd/helm"

BUILD_SECONDS = 600
"""A cold build of helm takes a minute on two cores, and downloads 200 MB of modules."""


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
    """helm 3. The test is skipped where there is neither helm nor what builds it."""
    if installed := shutil.which("helm"):
        return Path(installed)
    program = cache() / f"helm-{HELM}" / "helm"
    if not program.exists():
        if shutil.which("go") is None:
            missing("helm", "neither helm nor go, which builds it")
        environment = {**os.environ, "GOBIN": str(program.parent), "CGO_ENABLED": "0"}
        command = ["go", "install", "-trimpath", f"{HELM_MODULE}@{HELM}"]
        built = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS)
        if built.returncode:
            missing("helm", f"go cannot build {HELM_MODULE}@{HELM}: {built.stderr.strip().splitlines()[-1]}")
    return program


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probelet"


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
    ended = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=BUILD_SECONDS)
    if ended.returncode:
        missing("go", f"{module}@{version} cannot be fetched: {ended.stderr.strip() or ended.stdout.strip()}")
    return Path(json.loads(ended.stdout)["Dir"])
