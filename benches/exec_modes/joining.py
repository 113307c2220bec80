"""How long a process takes into all cgroups of a container, by itself: version 1 takes a lock of the whole machine for
each hierarchy, and after a pause that lock waits for every processor."""

import subprocess
import time
from pathlib import Path
from typing import Any, Final

from benches.exec_modes.measure import quantiles

CGROUPS: Final = Path("/sys/fs/cgroup")


def joins(pid: int, pause: float, count: int = 50) -> dict[str, Any]:
    """Moves a process into the cgroups of the process ``pid`` and back, ``count`` times, ``pause`` seconds apart."""
    own, inside = [], []
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        name = controllers.removeprefix("name=") or "unified"
        for root in (CGROUPS / name, CGROUPS):
            if (root / path.lstrip("/") / "cgroup.procs").exists() and path != "/":
                inside.append(root / path.lstrip("/") / "cgroup.procs")
                own.append(root / "cgroup.procs")
                break
    times, began = [], time.process_time()
    with subprocess.Popen(["sleep", "1000"]) as child:
        for _ in range(count):
            time.sleep(pause)
            start = time.perf_counter()
            for file in inside:
                file.write_text(str(child.pid))
            times.append(1e3 * (time.perf_counter() - start))
            for file in own:
                file.write_text(str(child.pid))
        child.kill()
    cpu = (time.process_time() - began) / count / 2
    row = {"hierarchies": len(inside), "joins": count, "pause_ms": 1e3 * pause, "cpu_ms": round(1e3 * cpu, 3)}
    return row | quantiles(times)
