"""The processor time of everything that takes part in an exec."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def used(processes: list[int]) -> float:
    """Seconds that these processes and their children that have ended took: a program that runc starts is the shim's
    child in the end, runc itself the shim's too, and a command of the helper the helper's."""
    total = 0.0
    for pid in processes:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(field) for field in fields[11:15]) / TICKS
    return total


def busy() -> float:
    """Seconds that the whole machine was busy, the kernel's own threads included; of use on a quiet machine only."""
    user, nice, system, _idle, _waiting, irq, soft, stolen = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + irq + soft + stolen) / TICKS
