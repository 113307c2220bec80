"""The part of every container's configuration that comes from this machine and from the node's configuration.

What a node has for pods is what a kubelet without reservations says: everything but its eviction thresholds
(``Allocatable``; pkg/kubelet/cm/node_container_manager_linux.go and the defaults of ``evictionHard``, 1.36).
Kubelet pkg/securitycontext/util.go and util_linux.go, 1.36: parts of /proc and /sys show or change the whole machine,
so a container may not read or write them.
"""

import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Final

import msgspec

MASKED_PATHS: Final = (
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
)
READONLY_PATHS: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")

SECCOMP_ROOT: Final = Path("/var/lib/kubelet/seccomp")
"""Where ``localhostProfile`` begins: the directory of a kubelet with its default ``--root-dir``."""

MEMORY_EVICTION_BYTES: Final = 100 * 1024 * 1024
"""``memory.available``."""
DISK_EVICTION_SHARE: Final = Fraction(1, 10)
"""``nodefs.available``."""

_CPUS: Final = Path("devices/system/cpu")


class Host(msgspec.Struct, frozen=True):
    """``seccomp_default`` gives the runtime's profile to every container that names none (``seccompDefault``);
    ``cluster_domain`` ends the domain of a pod with a ``subdomain`` (``clusterDomain``)."""

    masked_paths: tuple[str, ...] = MASKED_PATHS
    cpus: int = 0
    """The CPUs that are online; 0 if the kernel has no list."""
    memory_bytes: int = 0
    """The machine's memory; 0 if it cannot be read."""
    disk_bytes: int = 0
    """The file system below which containers write; 0 if it cannot be read."""
    huge_page_sizes: tuple[str, ...] = ()
    """The sizes as the kernel's cgroups name them: ``2MB``."""
    seccomp_default: bool = False
    cluster_domain: str = ""
    selinux: bool = False
    """Whether SELinux is enabled, so that a file of this machine needs a label before a container may use it."""

    def allocatable(self) -> dict[str, Fraction]:
        """Returns the node's CPUs and bytes for pods, without unknown amounts."""
        memory, disk = self.memory_bytes - MEMORY_EVICTION_BYTES, self.disk_bytes * (1 - DISK_EVICTION_SHARE)
        amounts = {"cpu": Fraction(self.cpus), "memory": Fraction(memory), "ephemeral-storage": Fraction(disk)}
        return {name: amount for name, amount in amounts.items() if amount > 0}


def this_host(
    *, seccomp_default: bool = False, cluster_domain: str = "", root: Path = Path("/"), disk: Path | None = None
) -> Host:
    """Reads this machine; ``root`` is where its /proc and /sys are, ``disk`` a path on the file system below which
    containers write."""
    sys = root / "sys"
    throttles = (f"devices/system/cpu/cpu{cpu}/thermal_throttle" for cpu in _possible_cpus(sys / _CPUS))
    return Host(
        masked_paths=(*MASKED_PATHS, *(f"/sys/{path}" for path in throttles if (sys / path).exists())),
        cpus=len(_listed(sys / _CPUS / "online")),
        memory_bytes=_memory(root / "proc" / "meminfo"),
        disk_bytes=0 if disk is None else _disk(disk),
        huge_page_sizes=_huge_page_sizes(sys / "kernel" / "mm" / "hugepages"),
        seccomp_default=seccomp_default,
        cluster_domain=cluster_domain,
        selinux=(sys / "fs" / "selinux" / "enforce").exists(),
    )


def _possible_cpus(folder: Path) -> list[int]:
    """Returns the number of possible CPUs; the present number if the kernel has no list."""
    return _listed(folder / "possible") or list(range(os.cpu_count() or 1))


def _listed(listing: Path) -> list[int]:
    """One of the kernel's lists of CPUs, such as ``0-3,8``; empty if it cannot be read."""
    try:
        cpus: list[int] = []
        for part in listing.read_text().strip().split(","):
            first, _, last = part.partition("-")
            cpus += range(int(first), int(last or first) + 1)
    except (OSError, ValueError):
        return []
    return cpus


def _memory(meminfo: Path) -> int:
    try:
        found = re.search(r"^MemTotal:\s+(\d+) kB$", meminfo.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _disk(path: Path) -> int:
    """The size of the file system on which ``path`` is, or will be."""
    existing = next(found for found in (path, *path.absolute().parents) if found.exists())
    try:
        found = os.statvfs(existing)
    except OSError:
        return 0
    return found.f_blocks * found.f_frsize


def _huge_page_sizes(folder: Path) -> tuple[str, ...]:
    """libcontainer ``HugePageSizes``; ``hugepages-2048kB`` is ``2MB``."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return ()
    return tuple(
        size_text(int(found[1]) * 1024) for name in names if (found := re.fullmatch(r"hugepages-(\d+)kB", name))
    )


def size_text(size: int) -> str:
    """A size of huge pages as the kernel's cgroups write it."""
    for unit, shift in (("GB", 30), ("MB", 20)):
        if size >= 1 << shift:
            return f"{size >> shift}{unit}"
    return f"{size >> 10}KB"
