"""Builds the programs of a Kubernetes cluster from published Go modules, once, into a cache folder outside the tree.

KUBEBUILDER_ASSETS names the folder by the convention of envtest. A folder that the caller names there is used as it is:
nothing is built into it.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.paths import BUILD, ROOT

MODULE = ROOT / "tests" / "cluster" / "binaries"
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
"""Names of one binary, ``controlplane``."""
PROGRAMS = (*CONTROL_PLANE, "kubelet")
TARGET = BUILD / "beside" / "target"
"""The program in the pods of the comparisons."""

ASSETS = "KUBEBUILDER_ASSETS"


def version() -> str:
    """The release of Kubernetes that go.mod names, such as v1.36.3."""
    rows = (MODULE / "go.mod").read_text().split("\n")
    return next(row.split()[1] for row in rows if row.startswith("\tk8s.io/kubernetes "))


def folder() -> Path:
    """The folder of the programs: KUBEBUILDER_ASSETS, or the cache of this user."""
    if named := os.environ.get(ASSETS):
        return Path(named)
    return cache() / f"kubernetes-{version().removeprefix('v')}"


def cache() -> Path:
    """The folder of this user for programs that take minutes to build."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probelet"


def what_is_missing() -> str:
    """The reason why there are no programs and none can be built, in one line; empty if there are, or can be."""
    if os.environ.get(ASSETS):
        why = what_is_not_built(*PROGRAMS)
        return f"{why}; without that variable they are built" if why else ""
    return "no go, which builds Kubernetes" if shutil.which("go") is None else ""


def what_is_not_built(*programs: str) -> str:
    """The reason why ``programs`` are not there now, in one line; empty if they are. Nothing is built."""
    if named := os.environ.get(ASSETS):
        absent = [program for program in programs if shutil.which(program, path=named) is None]
        return f"no {', '.join(absent)} in {ASSETS}={named}" if absent else ""
    if _is_current(folder() / "stamp"):
        return ""
    return f"{ASSETS} names no folder, and python -m tests.cluster.binaries has built none (Go, six minutes)"


def build() -> Path:
    """Build what is not there in this version; returns the folder. Raises CalledProcessError.

    A cold build takes five minutes on two cores and 2.2 GB of memory.
    """
    into = folder()
    if os.environ.get(ASSETS):
        return into
    into.mkdir(parents=True, exist_ok=True)
    with alone(into / "lock"):
        stamp = into / "stamp"
        if not _is_current(stamp):
            _build(into)
            stamp.write_text(_digest())
    return into


def build_target() -> Path:
    """Build the program of the pods. Raises CalledProcessError."""
    _go(TARGET, "./target", "-s -w")
    return TARGET


def linker_flags() -> str:
    """A program of this release without what only a debugger reads."""
    major, minor, _ = version().removeprefix("v").split(".")
    stamp = (("gitVersion", version()), ("gitMajor", major), ("gitMinor", minor))
    return " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamp)])


def _build(into: Path) -> None:
    for program in ("kubelet", "controlplane"):
        # A program that runs cannot be written to, but its name can be given to another file.
        _go(into / f"{program}.new", f"./{program}", linker_flags())
        (into / f"{program}.new").rename(into / program)
    for name in CONTROL_PLANE:
        (into / name).unlink(missing_ok=True)
        (into / name).symlink_to("controlplane")


def _go(program: Path, package: str, linker: str) -> None:
    # Without cgo the programs need no library, so that the target runs in an image without any.
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", linker, "-o", str(program), package]
    subprocess.run(command, cwd=MODULE, env={**os.environ, "CGO_ENABLED": "0"}, check=True)


def _is_current(stamp: Path) -> bool:
    return stamp.exists() and stamp.read_text() == _digest()


def _digest() -> str:
    """Changes with the sources."""
    files = [MODULE / "go.mod", MODULE / "go.sum", *(MODULE / name / "main.go" for name in ("kubelet", "controlplane"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """One build at a time."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
