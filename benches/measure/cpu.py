"""CPU time of the machine and of other processes, from /proc."""

import os
from dataclasses import dataclass
from pathlib import Path

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cpu:
    """CPU seconds so far; a difference of two readings gives the seconds between them."""

    target: float
    busy: float
    all: float
    """Busy and idle time of all cores."""

    def __sub__(self, earlier: "Cpu") -> "Cpu":
        return Cpu(self.target - earlier.target, self.busy - earlier.busy, self.all - earlier.all)


def cpu(pid: int | None) -> Cpu:
    """Reads the CPU time; ``pid`` is the target's process."""
    first = Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]
    user, nice, system, idle, waiting, irq, soft, stolen = (int(ticks) * TICK_SECONDS for ticks in first)
    busy = user + nice + system + irq + soft + stolen
    return Cpu(_of_process(pid), busy, busy + idle + waiting)


def _of_process(pid: int | None) -> float:
    if pid is None:
        return 0.0
    # The program name in brackets may contain any character, so the fields are counted from the last bracket.
    after = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after[11]) + int(after[12])) * TICK_SECONDS
