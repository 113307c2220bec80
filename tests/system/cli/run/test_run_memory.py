"""A memory limit that the whole node shares: a container that uses it up is killed, and the prober is not."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.required import missing
from tests.system.cli.conftest import Run, Start, manifest, wait_for

pytestmark = pytest.mark.e2e

LIMIT_BYTES = 256 << 20

# Each child is much smaller than the prober, so that size alone would choose the prober.
HOGS = f"""
import subprocess, time
while True:
    hog = "import time; kept = bytearray(8 << 20); time.sleep(1000)"
    subprocess.Popen([{sys.executable!r}, "-c", hog])
    time.sleep(0.05)
"""


@dataclass(frozen=True)
class MemoryGroup:
    folder: Path

    def take(self, pid: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(pid))

    def kills(self) -> int:
        """How many processes the kernel has killed for the limit."""
        events = next(file for name in ("memory.events", "memory.oom_control") if (file := self.folder / name).exists())
        counts = dict(line.split() for line in events.read_text().splitlines())
        return int(counts["oom_kill"])


def own_group() -> Path:
    """This process's group of the memory controller, of either version."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in lines:
        if "memory" in controllers.split(","):
            return Path("/sys/fs/cgroup/memory") / path.lstrip("/")
    return Path("/sys/fs/cgroup") / lines[-1][2].lstrip("/")


@pytest.fixture
def memory_group(tmp_path: Path) -> Iterator[MemoryGroup]:
    folder = own_group() / tmp_path.name
    try:
        folder.mkdir()
    except OSError as error:
        missing("memory cgroup", f"cannot make one: {error.strerror}")
    limits = [folder / name for name in ("memory.max", "memory.limit_in_bytes")]
    limit = next((file for file in limits if file.exists()), None)
    try:
        if limit is None:
            missing("memory cgroup", "the group has no limit of memory")
        limit.write_text(str(LIMIT_BYTES))
        yield MemoryGroup(folder)
        wait_for(lambda: not (folder / "cgroup.procs").read_text(), "the group's processes to end")
    finally:
        folder.rmdir()


def probes(run: Run) -> int:
    [container] = run.status()["good"]["containers"]
    return int(container["probes"]["readiness"]["runs"])


def test_the_kernel_kills_a_container_and_not_its_prober(
    memory_group: MemoryGroup, start: Start, tmp_path: Path, marker: str
) -> None:
    ready = "    readinessProbe: {exec: {command: ['true']}, periodSeconds: 1}"
    (tmp_path / "hogs.py").write_text(HOGS)
    go = f"while ! test -e {tmp_path}/go; do sleep 0.1; done; exec {sys.executable} {tmp_path}/hogs.py"
    (tmp_path / "pods").mkdir()
    (tmp_path / "pods" / "good.yaml").write_text(manifest("good", marker, grace=1, probe=ready))
    (tmp_path / "pods" / "hog.yaml").write_text(manifest("hog", marker, go, grace=1))
    run = start(str(tmp_path / "pods"))
    memory_group.take(run.process.pid)
    run.line("listening")
    wait_for(lambda: run.status()["good"]["ready"], "a pod that is ready")
    (tmp_path / "go").touch()
    wait_for(lambda: run.process.poll() is not None or memory_group.kills() >= 5, "the kernel to kill for memory")
    assert run.process.poll() is None
    runs = probes(run)
    wait_for(lambda: probes(run) > runs, "a probe after that")
