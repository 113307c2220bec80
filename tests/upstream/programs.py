"""Builds upstream's tests from the published module, once, into a cache folder outside the tree.

The result is three programs: the tests, ginkgo, which runs them side by side, and agnhost, the program of their pods.
"""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.binaries.build import alone, cache, version
from tests.support.paths import ROOT

SUITE = ROOT / "tests" / "upstream" / "suite"
LIFECYCLE = {
    "container_lifecycle_pod_construction.go": "construction.go",
    "container_lifecycle_test.go": "lifecycle.go",
}
"""Files of test/e2e_node, and the names under which another package can have their tests."""
WAITS = (
    "WaitForPodInitContainerRestartCount",
    "WaitForPodContainerRestartCount",
    "WaitForPodInitContainerToFail",
)
"""Functions of test/e2e_node/util.go that those files call."""
IMPORTS = """package lifecycle

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	e2epod "k8s.io/kubernetes/test/e2e/framework/pod"
)
"""
JOBS = 2
"""Compilers at a time; one of Kubernetes' packages takes a gigabyte."""


@dataclass(frozen=True)
class Programs:
    """What a run of the suite starts, and the folder of the module with upstream's sources."""

    tests: Path
    ginkgo: Path
    agnhost: Path
    kubernetes: Path


def build() -> Programs:
    """Build what is not there in this version. Raises CalledProcessError.

    A cold build takes ten minutes on two cores.
    """
    into = cache() / f"upstream-{version().removeprefix('v')}"
    into.mkdir(parents=True, exist_ok=True)
    source = _kubernetes()
    programs = Programs(into / "e2e.test", into / "ginkgo", into / "agnhost", source)
    with alone(into / "lock"):
        stamp, wanted = into / "stamp", _digest()
        if not stamp.exists() or stamp.read_text() != wanted:
            _build(into / "suite", programs)
            stamp.write_text(wanted)
    return programs


def _kubernetes() -> Path:
    """The folder of k8s.io/kubernetes in Go's cache of modules."""
    module = f"k8s.io/kubernetes@{version()}"
    _go("mod", "download", module, folder=SUITE)
    return Path(_go("env", "GOMODCACHE", folder=SUITE)) / module


def _build(suite: Path, programs: Programs) -> None:
    shutil.rmtree(suite, ignore_errors=True)
    shutil.copytree(SUITE, suite)
    copy_lifecycle(programs.kubernetes / "test" / "e2e_node", suite / "lifecycle")
    # With the flags of tests/cluster/binaries, whose packages are then in Go's cache.
    flags = [f"-p={JOBS}", "-trimpath", "-ldflags", "-s -w", "-o"]
    _go("test", "-c", "-vet=off", *flags, str(programs.tests), ".", folder=suite)
    _go("build", *flags, str(programs.ginkgo), "github.com/onsi/ginkgo/v2/ginkgo", folder=suite)
    _go("build", *flags, str(programs.agnhost), "k8s.io/kubernetes/test/images/agnhost", folder=suite)


def copy_lifecycle(source: Path, into: Path) -> None:
    """Copy the tests of containers' lives, whose package is of tests only, into a package that others can import."""
    for name, other in LIFECYCLE.items():
        text = (source / name).read_text()
        (into / other).write_text(re.sub("^package e2enode$", "package lifecycle", text, flags=re.MULTILINE))
    helpers = (source / "util.go").read_text()
    found = [re.search(rf"^func {name}\(.*?^}}\n", helpers, re.MULTILINE | re.DOTALL) for name in WAITS]
    (into / "waits.go").write_text("\n".join([IMPORTS, *(one[0] for one in found if one is not None)]))


def _go(*arguments: str, folder: Path) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod -buildvcs=false"}
    command = ["nice", "-n", "5", "go", *arguments]
    return subprocess.check_output(command, cwd=folder, env=environment, text=True).strip()


def _digest() -> str:
    """Changes with the sources."""
    files = sorted(path for path in SUITE.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(file.read_bytes() for file in [*files, Path(__file__)])).hexdigest()
