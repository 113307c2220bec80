"""Exec probes over a runtime's socket: ``python -m benches.peers.cri probelet|bare cri --target SOCKET``.

``probelet`` is the engine with the code that carries out its exec attempts in ``probelet run``. ``bare`` keeps a
schedule, makes the same call with the gRPC library, and does nothing else.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from probelet.lab.bench.usage import resident_bytes, usage

from benches.peers.cri.bare import bare
from benches.peers.cri.engine import engine
from benches.peers.cri.stamp import Load, Stamps

Prober = Callable[[Load, Stamps], AbstractAsyncContextManager[None]]
PROBERS: dict[str, Prober] = {"bare": bare, "probelet": engine}


async def measure(prober: Prober, load: Load) -> dict[str, Any]:
    stamps, loaded, began = Stamps(), resident_bytes(), time.monotonic()
    async with prober(load, stamps):
        added = time.monotonic() - began
        await asyncio.sleep(load.warm)
        print("measuring", file=sys.stderr, flush=True)
        stamps.clear()
        used, began = usage(), time.monotonic()
        await asyncio.sleep(load.duration)
        elapsed, used = time.monotonic() - began, usage() - used
        print("measured", file=sys.stderr, flush=True)
        grown, probes, failed, late = resident_bytes() - loaded, stamps.probes, stamps.failed, stamps.late_ms()
    return {
        "schema": "probelet-bench/1",
        "scenario": "cri",
        "workers": load.workers,
        "probes": probes,
        "probes_per_second": round(probes / elapsed, 1),
        "cpu_us_per_probe": round(used.cpu_seconds * 1e6 / probes, 2) if probes else None,
        "false_failures": failed,
        "lateness_ms": late,
        "bytes_per_worker": round(grown / load.workers),
        "add_ms": round(added * 1000, 1),
        "wakeups_per_second": round(used.wakeups / elapsed, 1),
    }


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prober", choices=list(PROBERS))
    parser.add_argument("handler", choices=["cri"])
    parser.add_argument("--target", required=True, metavar="SOCKET")
    parser.add_argument("--workers", type=int, default=500)
    for name, default in (("--period", 1), ("--warm", 2), ("--duration", 10)):
        parser.add_argument(name, type=seconds, default=default)
    options = parser.parse_args()
    load = Load(options.target, options.workers, options.period, options.warm, options.duration)
    print(json.dumps(asyncio.run(measure(PROBERS[options.prober], load))))


if __name__ == "__main__":
    main()
