"""The programs of the comparison, from the Go module of ``tests/cluster/binaries``: the kubelet, the pods' target."""

import shutil
from pathlib import Path

from tests.cluster.binaries import build as binaries
from tests.system.containerd.machine import what_is_missing as missing_for_containerd


def what_is_missing() -> str:
    """The reason why the comparison cannot run here, in one line; empty if it can."""
    for program, purpose in (("go", "builds the kubelet"), ("curl", "reads its pages")):
        if shutil.which(program) is None:
            return f"no {program}, which {purpose}"
    return binaries.what_is_missing() or missing_for_containerd()


def kubelet() -> Path:
    """The kubelet, which ``build`` has built."""
    return binaries.folder() / "kubelet"


def build() -> None:
    """Build both programs. The first build takes minutes, later ones seconds. Raises CalledProcessError."""
    binaries.build()
    binaries.build_target()
