"""A usual node: 145 containers of 110 pods with 29 probes a second, 73 % of them HTTP, 18 % exec, 6 % TCP and 3 % gRPC;
probelet in both modes, and the kubelet's own prober with the kubelet's own CRI client."""

import asyncio
import json
import subprocess
import sys
from contextlib import ExitStack
from typing import Any, Final

from probelet.lab.bench.place import Place

from benches.engines.kubelet import ENGINE
from benches.exec_modes.measure import Row, measured, rested
from benches.exec_modes.pods import Probed
from benches.exec_modes.probers import MODES, probelet, roles
from benches.exec_modes.processor_time import used
from benches.measure.target import target_of
from tests.system.containerd.machine import Containerd

MIX: Final = {"http": 106, "exec": 26, "tcp": 9, "grpc": 4}
"""Containers, each with a readiness and a liveness probe."""
PERIOD: Final = 10


async def realistic(containerd: Containerd, ids: list[str], seconds: float, idle: float) -> list[Row]:
    """The rows of all probers, one after another. ``ids`` are the containers of exec probes; the runtime uses ``idle``
    cores in any case."""
    with ExitStack() as stack:
        targets = {handler: stack.enter_context(target_of(handler, PERIOD)) for handler in ("http", "tcp", "grpc")}
        places = {handler: found.place for handler, found in targets.items() if found is not None}
        load = [
            Probed(f"containerd://{ids[number]}", handler, PERIOD, 2)
            if handler == "exec"
            else Probed(f"containerd://{handler}{number:060x}", handler, PERIOD, 2, Place.parse(places[handler]))
            for handler, count in MIX.items()
            for number in range(count)
        ]
        rows = []
        for mode in MODES:
            await rested(roles(containerd)["runtime"])
            async with probelet(mode, containerd, load) as prober:
                rows.append(await measured(f"probelet, {mode}", prober, load, seconds, idle))
        if why := ENGINE.missing():
            print(why, file=sys.stderr)
        else:
            await rested(roles(containerd)["runtime"])
            rows.append(await _kubelet(containerd, ids, places, seconds, idle))
        return rows


async def _kubelet(containerd: Containerd, ids: list[str], places: dict[str, str], seconds: float, idle: float) -> Row:
    mix = ",".join(f"{handler}={count}" for handler, count in MIX.items())
    command = [*ENGINE.program, "mix", "--mix", mix, "--period", f"{PERIOD}s", "--warm", f"{PERIOD + 1}s"]
    command += ["--duration", f"{int(seconds)}s", "--target", places["http"], "--grpc", places["grpc"]]
    command += ["--runtime", containerd.endpoint, "--containers", ",".join(ids[: MIX["exec"]])]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    runtime = roles(containerd)["runtime"]
    moments: list[float] = []
    while line := await process.stderr.readline():
        if line.strip() in (b"measuring", b"measured"):
            moments.append(used(runtime))
        else:
            print(line.decode(), end="", file=sys.stderr)
    found: dict[str, Any] = json.loads(await process.stdout.read())
    await process.wait()
    spent = {
        "prober": found["cpu_us_per_probe"] * found["probes"] / 1e6,
        "runtime": moments[1] - moments[0] - idle * found["seconds"],
    }
    return {
        "mode": "kubelet's prober",
        "containers": found["workers"],
        "rate": found["probes_per_second"],
        "attempts": found["probes"],
        "failed": found["false_failures"],
        "cpu_ms": round(1e3 * sum(spent.values()) / found["probes"], 3),
        **{f"{role}_cpu_ms": round(1e3 * value / found["probes"], 3) for role, value in spent.items()},
        "cores": {role: round(value / found["seconds"], 4) for role, value in spent.items()},
    }
