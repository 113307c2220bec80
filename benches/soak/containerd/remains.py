"""Finds everything that a drain has left on the machine and in the runtime."""

import hashlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tests.system.containerd.machine import Containerd
from tests.system.containerd.node import ContainerdNode

SHIM_SOCKETS = Path("/run/containerd/s")


def remains(
    containerd: Containerd, node: ContainerdNode, sandboxes: Collection[str], containers: Collection[str]
) -> list[str]:
    """Returns a line for each leftover. ``sandboxes`` and ``containers`` hold the IDs of all that ever existed."""
    found = [f"shim {pid}" for pid in containerd.shims()]
    found += [f"socket {path}" for path in (shim_socket(containerd, one) for one in sandboxes) if path.exists()]
    found += [f"process {pid} of a container" for pid in processes_of({*sandboxes, *containers})]
    found += [f"sandbox {box.metadata.name}" for box in node.sandboxes()]
    found += [f"container {one.metadata.name}" for one in containerd.containers()]
    found += [f"task {line}" for line in containerd.ctr("tasks", "ls", "-q").split()]
    found += [f"log {path.name}" for path in node.logs.iterdir()]
    leases = (containerd.folder / "ipam").glob("*/[0-9]*")
    found += [f"address {path.name}" for path in leases]
    links = containerd.command("ip", "-o", "link").splitlines()
    found += [f"interface {line.split()[1]}" for line in links if "LOOPBACK" not in line]
    mounts = Path("/proc/mounts").read_text().splitlines()
    return found + [f"mount {line.split()[1]}" for line in mounts if f" {containerd.folder}/" in line]


def shim_socket(containerd: Containerd, sandbox: str) -> Path:
    """Returns the socket of a sandbox's shim (containerd runtime/v2/shim/util_unix.go:SocketAddress)."""
    return SHIM_SOCKETS / hashlib.sha256(f"{containerd.socket}/k8s.io/{sandbox}".encode()).hexdigest()


def processes_of(ids: Collection[str]) -> list[int]:
    """Returns the processes in the cgroups of these containers."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                groups = (entry / "cgroup").read_text().split()
                if any(group.rpartition("/")[2] in ids for group in groups):
                    found.append(int(entry.name))
    return found
