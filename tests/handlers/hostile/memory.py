"""How much memory a piece of work takes at its height."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Written to clear_refs it makes the kernel forget the peak so far (proc(5)).
FORGET_PEAK = "5"


@dataclass
class Growth:
    """Bytes of a process's resident memory above where it was."""

    peak_bytes: int = 0
    """At the worst moment."""
    left_bytes: int = 0
    """When it was over."""


def resident(process: Path, field: str) -> int:
    status = (process / "status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


@contextmanager
def measured(pid: int | None = None) -> Iterator[Growth]:
    """Measures a process, this one unless said otherwise, while it does nothing but what is inside."""
    growth = Growth()
    process = Path("/proc") / (str(pid) if pid else "self")
    (process / "clear_refs").write_text(FORGET_PEAK)
    before = resident(process, "VmRSS")
    yield growth
    growth.peak_bytes = resident(process, "VmHWM") - before
    growth.left_bytes = resident(process, "VmRSS") - before
