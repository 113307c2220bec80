"""Measures how much memory a piece of work needs at its peak."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Writing this to clear_refs makes the kernel forget the peak so far (proc(5)).
FORGET_PEAK = "5"


@dataclass
class Growth:
    """How much the resident memory of a process grew, in bytes."""

    process: Path
    """The folder of the process in /proc."""
    before_bytes: int
    """Its memory before the work."""
    peak_bytes: int = 0
    """Growth at the peak."""
    left_bytes: int = 0
    """Growth that was left at the end."""

    def now_bytes(self) -> int:
        """Growth until now."""
        return resident(self.process, "VmRSS") - self.before_bytes


def resident(process: Path, field: str) -> int:
    status = (process / "status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


@contextmanager
def measured(pid: int | None = None) -> Iterator[Growth]:
    """Measures the process ``pid``, by default this one, during the body of the ``with`` statement."""
    process = Path("/proc") / (str(pid) if pid else "self")
    (process / "clear_refs").write_text(FORGET_PEAK)
    growth = Growth(process, resident(process, "VmRSS"))
    yield growth
    growth.peak_bytes = resident(process, "VmHWM") - growth.before_bytes
    growth.left_bytes = growth.now_bytes()
