"""What the configuration of every container takes from this machine and from the node's configuration.

Kubelet pkg/securitycontext/util.go and util_linux.go, 1.36: parts of /proc and /sys show or change the whole machine,
so a container may not read or write them.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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

_CPUS: Final = Path("devices/system/cpu")


@dataclass(frozen=True, slots=True)
class Host:
    """``seccomp_default`` gives the runtime's profile to every container that names none (``seccompDefault``)."""

    masked_paths: tuple[str, ...] = MASKED_PATHS
    memory_bytes: int = 0
    """The machine's memory; 0 if it cannot be read."""
    huge_page_sizes: tuple[str, ...] = ()
    """As the kernel's cgroups name them: ``2MB``."""
    seccomp_default: bool = False
    selinux: bool = False
    """Whether SELinux is enabled, so that a file of this machine needs a label before a container may use it."""


def this_host(*, seccomp_default: bool = False, root: Path = Path("/")) -> Host:
    """Reads this machine; ``root`` is where its /proc and /sys are."""
    sys = root / "sys"
    throttles = (f"devices/system/cpu/cpu{cpu}/thermal_throttle" for cpu in _possible_cpus(sys / _CPUS / "possible"))
    return Host(
        masked_paths=(*MASKED_PATHS, *(f"/sys/{path}" for path in throttles if (sys / path).exists())),
        memory_bytes=_memory(root / "proc" / "meminfo"),
        huge_page_sizes=_huge_page_sizes(sys / "kernel" / "mm" / "hugepages"),
        seccomp_default=seccomp_default,
        selinux=(sys / "fs" / "selinux" / "enforce").exists(),
    )


def _possible_cpus(listing: Path) -> list[int]:
    """The kernel's list, such as ``0-3,8``; as many as there are now if it has none."""
    try:
        cpus: list[int] = []
        for part in listing.read_text().strip().split(","):
            first, _, last = part.partition("-")
            cpus += range(int(first), int(last or first) + 1)
    except (OSError, ValueError):
        return list(range(os.cpu_count() or 1))
    return cpus


def _memory(meminfo: Path) -> int:
    try:
        found = re.search(r"^MemTotal:\s+(\d+) kB$", meminfo.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


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
