"""probelet's engine under measurement, in a process of its own, so that the CPU counted is the prober's alone.

Prints one JSON object of schema ``probelet-bench/1``.
"""

import argparse
import json
import resource
import select
import time
from pathlib import Path
from typing import Any

from probelet._rust import Engine

from benches.pods import node
from benches.reading import read

PAGE_BYTES = resource.getpagesize()


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def serve(engine: Engine, seconds: float) -> int:
    """What the node service does while nothing changes: wait for batches and take them. Returns how many came."""
    batches, end = 0, time.monotonic() + seconds
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    while (left := end - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            engine.drain()
            batches += 1
    return batches


def measure(port: int, workers: int, period_seconds: int, seconds: int, warm: int) -> dict[str, Any]:
    engine = Engine(seed=1, start_jitter=True)
    pods = list(node(workers, port, period_seconds))
    for _, pod, _ in pods:
        engine.define_pod(pod)
    loaded = resident_bytes()
    began = time.monotonic()
    for uid, _, facts in pods:
        engine.sync_pod(uid, facts)
    add_ms = (time.monotonic() - began) * 1000
    serve(engine, warm)
    grown = resident_bytes() - loaded
    before, cpu, began = read(engine), cpu_seconds(), time.monotonic()
    batches = serve(engine, seconds)
    cpu, elapsed = cpu_seconds() - cpu, time.monotonic() - began
    seen = read(engine) - before
    result = {
        "schema": "probelet-bench/1",
        "engine": "probelet",
        "scenario": "http",
        "workers": workers,
        "probes": seen.probes,
        "probes_per_second": round(seen.probes / elapsed, 1),
        "cpu_us_per_probe": round(cpu * 1e6 / seen.probes, 2) if seen.probes else None,
        "false_failures": seen.failures,
        "bytes_per_worker": round(grown / workers),
        "add_ms": round(add_ms, 1),
        "batches": batches,
    }
    engine.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--period-seconds", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--warm", type=int, default=2)
    options = parser.parse_args()
    print(json.dumps(measure(**vars(options))))


if __name__ == "__main__":
    main()
