"""Builds the kubelet and the pods' target from published Go modules, below ``build/beside``."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.paths import BUILD, ROOT
from tests.system.containerd.machine import what_is_missing as missing_for_containerd

PROGRAMS = ROOT / "tests" / "kubelet" / "beside" / "programs"
KUBELET, TARGET = BUILD / "beside" / "kubelet", BUILD / "beside" / "target"


def what_is_missing() -> str:
    """The reason why the comparison cannot run here, in one line; empty if it can."""
    for program, purpose in (("go", "builds the kubelet"), ("curl", "reads its pages")):
        if shutil.which(program) is None:
            return f"no {program}, which {purpose}"
    return missing_for_containerd()


def version() -> str:
    """The release of the kubelet that go.mod names, such as v1.36.3."""
    rows = (PROGRAMS / "go.mod").read_text().split("\n")
    return next(row.split()[1] for row in rows if row.startswith("\tk8s.io/kubernetes "))


def build() -> None:
    """Build both programs. The first build takes minutes, later ones seconds. Raises CalledProcessError."""
    stamp = "-s -w"
    major, minor, _ = version().removeprefix("v").split(".")
    for name, value in (("gitVersion", version()), ("gitMajor", major), ("gitMinor", minor)):
        stamp += f" -X k8s.io/component-base/version.{name}={value}"
    _go(KUBELET, "./kubelet", stamp)
    _go(TARGET, "./target", "-s -w")


def _go(program: Path, package: str, linker: str) -> None:
    # Without cgo the programs need no library, so that the target runs in an image without any.
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", linker, "-o", str(program), package]
    subprocess.run(command, cwd=PROGRAMS, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
