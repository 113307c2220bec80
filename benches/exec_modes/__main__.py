"""What an exec probe costs over the runtime and with ``execMode: direct``: ``make bench-exec`` (root, containerd).

Each row runs ``true`` in real containers on a schedule, first over the runtime, then directly. It shows the latency and
two kinds of processor time for each attempt: of the processes that take part (this one, containerd, its shims with
runc, the helper), and of the whole machine beyond what it used before, which says something on a quiet machine only.

It exits with 3 if containerd cannot run.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from probelet.cri.client import RuntimeClient
from probelet.cri.exec import exec_attempt
from probelet.execs.direct.direct_execs import DirectExecs
from probelet.execs.direct.program import helper_program

from benches.exec_modes.processor_time import busy, used
from benches.machine import machine
from tests.system.containerd.machine import Containerd, what_is_missing
from tests.system.containerd.node import ContainerdNode

SCHEMA = "probelet-exec-modes/1"
REPORT = Path("build/exec-modes.json")

RATES = (1, 10, 50, 100, 200)
"""Attempts a second, over all containers."""
RUNTIME_RATE_MAX = 50
"""containerd 1.6 stalls above it, and a stall says nothing of a probe's cost."""
AT_ONCE = (16, 50, 200)
SECONDS = 10.0
CONTAINERS = 10
COMMAND = ["true"]
TIMEOUT_SECONDS = 30

Attempt = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class Way:
    """One way into the containers, and the processes that take part."""

    name: str
    attempt: Attempt
    processes: Callable[[], list[int]]


async def scheduled(way: Way, ids: list[str], rate: int, seconds: float) -> dict[str, Any]:
    """Attempts at a fixed rate, each in the next container."""
    latencies: list[float] = []

    async def one(container_id: str) -> None:
        began = time.perf_counter()
        await way.attempt(container_id)
        latencies.append(time.perf_counter() - began)

    idle, idle_for = busy(), time.perf_counter()
    await asyncio.sleep(1)
    share = (busy() - idle) / (time.perf_counter() - idle_for)
    before, machine_before, began = used(way.processes()), busy(), time.perf_counter()
    tasks = []
    for number in range(max(1, round(rate * seconds))):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(one(ids[number % len(ids)])))
    await asyncio.gather(*tasks)
    took = time.perf_counter() - began
    processes, whole = used(way.processes()) - before, busy() - machine_before - share * took
    return {
        "mode": way.name,
        "rate": rate,
        "attempts": len(tasks),
        "cpu_ms": round(1e3 * processes / len(tasks), 3),
        "machine_cpu_ms": round(1e3 * whole / len(tasks), 3),
        **quantiles(latencies),
    }


async def together(way: Way, ids: list[str], count: int) -> dict[str, Any]:
    """So many attempts at once in one container."""
    began = time.perf_counter()
    await asyncio.gather(*(way.attempt(ids[0]) for _ in range(count)))
    return {"mode": way.name, "at_once": count, "all_ms": round(1e3 * (time.perf_counter() - began), 1)}


def joins(pid: int, pause: float, count: int = 50) -> dict[str, Any]:
    """How long a process takes into all cgroups of a container, by itself: version 1 takes a lock of the whole machine
    for each hierarchy, and after a pause that lock waits for every processor."""
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
            times.append(time.perf_counter() - start)
            for file in own:
                file.write_text(str(child.pid))
        child.kill()
    cpu = (time.process_time() - began) / count / 2
    row = {"hierarchies": len(inside), "joins": count, "pause_ms": 1e3 * pause, "cpu_ms": round(1e3 * cpu, 3)}
    return row | quantiles(times)


CGROUPS = Path("/sys/fs/cgroup")


def quantiles(latencies: list[float]) -> dict[str, float]:
    ordered = sorted(latencies)
    at = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    return {name: round(1e3 * ordered[min(len(ordered) - 1, int(q * len(ordered)))], 2) for name, q in at.items()}


async def measured(containerd: Containerd, ids: list[str], seconds: float) -> list[dict[str, Any]]:
    program = helper_program()
    if program is None:
        raise SystemExit("no probelet-enter: make build makes it")
    async with RuntimeClient(containerd.endpoint) as client:
        direct = DirectExecs(client, program)
        await direct.start()

        async def over_the_runtime(container_id: str) -> None:
            outcome = await exec_attempt(client, container_id, COMMAND, TIMEOUT_SECONDS)
            assert outcome.exit_code == 0, outcome

        async def directly(container_id: str) -> None:
            run: Any = SimpleNamespace(argv=COMMAND, timeout_seconds=TIMEOUT_SECONDS)
            outcome = await direct.attempt(run, container_id)
            assert outcome is not None, direct.counts.fallbacks
            assert outcome.exit_code == 0, outcome

        own = os.getpid()
        cri = Way("cri", over_the_runtime, lambda: [own, containerd.pid, *containerd.shims()])
        helper = Way("direct", directly, lambda: [own, direct._helper._pid])
        rows = []
        for container_id in ids:
            await directly(container_id)
        for rate in RATES:
            for way in (cri, helper):
                if way is helper or rate <= RUNTIME_RATE_MAX:
                    rows.append(shown(await scheduled(way, ids, rate, seconds)))
        for count in AT_ONCE:
            for way in (cri, helper):
                if way is helper or count <= RUNTIME_RATE_MAX:
                    rows.append(shown(await together(way, ids, count)))
        await direct.close()
        first = containerd.pid_of(ids[0])
        return [*rows, *(shown(joins(first, pause)) for pause in (0.1, 0.01, 0.0))]


def shown(row: dict[str, Any]) -> dict[str, Any]:
    print(json.dumps(row), flush=True)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.exec_modes", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each row")
    parser.add_argument("--containers", type=int, default=CONTAINERS)
    parser.add_argument("--report", type=Path, default=REPORT, help="the file for the JSON")
    options = parser.parse_args()
    if why := what_is_missing():
        print(why, file=sys.stderr)
        return 3
    containerd = Containerd()
    with tempfile.TemporaryDirectory(prefix="probelet-exec-") as folder:
        try:
            containerd.start()
            node = ContainerdNode(containerd, Path(folder))
            names = [f"pod-{number}" for number in range(options.containers)]
            for name in names:
                node.run(name, {"name": "app", "command": ["sleep", "100000"]})
            node.start()
            node.until(lambda: all(node.container(name)["state"] == "running" for name in names), "containers")
            ids = [node.container(name)["container_id"].rpartition("/")[2] for name in names]
            rows = asyncio.run(measured(containerd, ids, options.seconds))
            report = {"schema": SCHEMA, "machine": machine(), "containerd": containerd.version(), "rows": rows}
            node.close()
        finally:
            containerd.stop()
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
