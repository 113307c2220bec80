"""Where the cgroups of version 2 are."""

from pathlib import Path

import pytest

from tests.system.containerd.machine import Containerd


def unified_mount() -> Path:
    """Where the hierarchy of version 2 is mounted; skips the test where it is not."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    for fields in mounts:
        if fields[2] == "cgroup2":
            return Path(fields[1])
    pytest.skip("version 2 is not mounted on this machine")


def cgroup_of(containerd: Containerd, container_id: str) -> Path:
    """The cgroup of version 2 of a container; skips the test if it has none."""
    process = Path(f"/proc/{containerd.pid_of(container_id)}/cgroup")
    path = next((line[3:] for line in process.read_text().splitlines() if line.startswith("0::")), "/")
    if path == "/":
        pytest.skip("the containers of this machine have no cgroup of version 2")
    return unified_mount() / path.removeprefix("/")
