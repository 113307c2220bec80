"""Builds helm 3 from its published Go module, once, into the cache of this user."""

import os
import subprocess
from pathlib import Path

from tests.cluster.binaries.build import cache

VERSION = "v3.22.0"
MODULE = "helm.sh/helm/v3/cmd/helm"


def program() -> Path:
    """Where a build puts it."""
    return cache() / f"helm-{VERSION}" / "helm"


def build() -> None:
    """Build it if it is not there. Raises CalledProcessError.

    A cold build takes a minute and a half on two cores, and downloads 200 MB of modules.
    """
    if not program().exists():
        environment = {**os.environ, "GOBIN": str(program().parent), "CGO_ENABLED": "0"}
        # Outside of the checkout, so that no module of the tests is asked.
        command = ["go", "install", "-trimpath", f"{MODULE}@{VERSION}"]
        subprocess.run(command, env=environment, cwd="/", check=True)
