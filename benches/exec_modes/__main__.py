"""What an exec probe costs over the runtime and with ``execMode: direct``: ``make bench-exec`` (root, containerd).

probelet's engine probes real containers with ``true`` in either mode, and a bare loop of ExecSync calls does the same
beside it. A row has the processor time of an attempt in each process that takes part: this one, containerd with its
shims, runc and the command, the helper with its forks and the command. A node with the probes of a usual cluster
follows, beside the kubelet's own prober.

It exits with 3 if containerd cannot run.
"""

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.exec import exec_attempt
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.program import helper_program

from benches.exec_modes import page
from benches.exec_modes.joining import joins
from benches.exec_modes.measure import Row, idle_cores, measured, rested
from benches.exec_modes.pods import COMMAND, exec_load, rate_of
from benches.exec_modes.probers import MODES, bare, probelet, roles
from benches.exec_modes.realistic import MIX, realistic
from benches.machine import machine
from tests.support.entering import entering
from tests.system.containerd.machine import Containerd, what_is_missing
from tests.system.containerd.node import ContainerdNode

LOADS: Final = ((10, 1), (10, 10), (10, 20), (30, 30), (30, 60), (100, 10), (100, 50), (100, 100), (100, 200))
"""Containers, and attempts a second over all of them."""
RUNTIME_RATE_MAX: Final = 50
"""containerd 1.6 stalls above it, and a stall says nothing of a probe's cost."""
AT_ONCE: Final = (16, 50, 200)
SECONDS: Final = 10.0
CONTAINERS: Final = 100
STARTING_SECONDS: Final = 900.0
"""For all containers on a machine that is busy."""
PAUSES: Final = (0.1, 0.01, 0.0)
"""Between two joins of cgroups, in seconds."""


async def together(name: str, attempt: Callable[[str], Awaitable[None]], container_id: str, count: int) -> Row:
    """So many attempts at once in one container."""
    began = time.perf_counter()
    await asyncio.gather(*(attempt(container_id) for _ in range(count)))
    return {"mode": name, "at_once": count, "all_ms": round(1e3 * (time.perf_counter() - began), 1)}


async def at_once(containerd: Containerd, container_id: str) -> list[Row]:
    """The rows of many attempts at once; Python carries them out, because an engine starts none of a worker twice."""
    program = helper_program()
    assert program is not None, "make build makes it"
    async with RuntimeClient(containerd.endpoint) as client:
        direct, numbers = DirectExecs(client, program), itertools.count()
        await direct.start()

        async def over_the_runtime(name: str) -> None:
            outcome = await exec_attempt(client, name.partition("://")[2], COMMAND, 60)
            assert outcome.exit_code == 0, outcome

        async def directly(name: str) -> None:
            attempt = {"run": next(numbers), "container_id": name, "argv": COMMAND, "timeout_seconds": 60}
            run: Any = SimpleNamespace(**attempt, refusal=None)
            outcome = await direct.attempt(run)
            assert outcome is not None, direct.counts.fallbacks
            assert outcome.exit_code == 0, outcome

        async with entering(direct):
            await directly(container_id)
            ways = {"cri": over_the_runtime, "direct": directly}
            return [
                shown(await together(name, way, container_id, count))
                for count in AT_ONCE
                for name, way in ways.items()
                if name == "direct" or count <= RUNTIME_RATE_MAX
            ]


async def by_rate(containerd: Containerd, ids: list[str], seconds: float, idle: float) -> list[Row]:
    """The rows of all loads for which there are enough containers."""
    rows = []
    for count, rate in LOADS:
        load = exec_load(ids[:count], rate)
        if count > len(ids):
            continue
        for mode in MODES:
            if mode == "direct" or rate_of(load) <= RUNTIME_RATE_MAX:
                await rested(roles(containerd)["runtime"])
                async with probelet(mode, containerd, load) as prober:
                    rows.append(shown(await measured(mode, prober, load, seconds, idle)))
        if rate_of(load) <= RUNTIME_RATE_MAX:
            await rested(roles(containerd)["runtime"])
            async with bare(containerd, load) as loop:
                rows.append(shown(await measured("bare loop", loop, load, seconds, idle)))
    return rows


def shown(row: Row) -> Row:
    print(json.dumps(row), flush=True)
    return row


def measure_all(containerd: Containerd, names: list[str], seconds: float) -> dict[str, Any]:
    """The whole report; each name is a container's full ID."""
    load = os.getloadavg()
    idle = asyncio.run(idle_cores(roles(containerd)["runtime"]))
    first = containerd.pid_of(names[0])
    report: dict[str, Any] = {
        "machine": machine(),
        "containerd": containerd.version(),
        "load_before": [round(value, 1) for value in load],
        "runtime_idle_cores": round(idle, 4),
        "rates": asyncio.run(by_rate(containerd, names, seconds, idle)),
        "at_once": asyncio.run(at_once(containerd, names[0])),
        "joins": [shown(joins(first, pause)) for pause in PAUSES],
    }
    bare_ids = [name.partition("://")[2] for name in names]
    if len(names) >= MIX["exec"]:
        report["realistic"] = [shown(row) for row in asyncio.run(realistic(containerd, bare_ids, 3 * seconds, idle))]
    return report | {"load_after": [round(value, 1) for value in os.getloadavg()]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.exec_modes", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each row; a realistic one takes three times")
    parser.add_argument("--containers", type=int, default=CONTAINERS)
    parser.add_argument("--report", type=Path, default=page.RESULT, help="the file for the JSON")
    options = parser.parse_args()
    if why := what_is_missing():
        print(why, file=sys.stderr)
        return 3
    containerd = Containerd()
    with tempfile.TemporaryDirectory(prefix="probelet-exec-") as folder:
        try:
            containerd.start()
            node = ContainerdNode(containerd, Path(folder), patience=STARTING_SECONDS)
            pods = [f"pod-{number}" for number in range(options.containers)]
            for name in pods:
                node.run(name, {"name": "app", "command": ["sleep", "100000"]})
            node.start()
            node.until(lambda: all(node.container(name)["state"] == "running" for name in pods), "containers")
            names = [node.container(name)["container_id"] for name in pods]
            # probelet run would follow its containers meanwhile; they go on without it.
            node.close()
            report = {"schema": page.SCHEMA} | measure_all(containerd, names, options.seconds)
        finally:
            containerd.stop()
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(json.dumps(report, indent=1) + "\n")
    if options.report == page.RESULT:
        page.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
