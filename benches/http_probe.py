"""An HTTP probe's CPU on loopback beside a raw epoll loop paced at the same rate: ``python -m benches.http_probe``.

Both probe the same target in the same run and take turns, so that a machine that is busy for a while is busy for both.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benches.machine import ROOT, machine
from benches.results import ENGINES, JSON, PAGE, digest, ratio, render
from benches.target import Target, target

IDLE_PERIOD_SECONDS = 36_000
"""Long enough that almost no probe falls into the measurement of idle workers."""


def command(engine: str, port: int, workers: int, seconds: int) -> list[str]:
    pace = ["--port", str(port), "--workers", str(workers), "--seconds", str(seconds)]
    if engine.startswith("epoll"):
        return [str(ROOT / "build" / "epoll"), *pace, "--tick", str(int(engine == "epoll-tick"))]
    return [sys.executable, "-m", "benches.probelet_engine", *pace]


def run(arguments: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(subprocess.run(arguments, cwd=ROOT, capture_output=True, check=True).stdout)
    return result


def measure(engine: str, against: Target, workers: int, seconds: int) -> dict[str, Any]:
    against.forget()
    row = run(command(engine, against.port, workers, seconds))
    late = row["lateness_ms"] = against.statistics()["lateness_ms"]
    print(
        f"{engine:>10} {row['probes_per_second']:8,.0f}/s {row['cpu_us_per_probe']:7.1f} us/probe "
        f"{row['false_failures']:5} false failures, "
        f"late p50 {late['p50']:.2f} p99 {late['p99']:.2f} max {late['max']:.2f} ms",
        flush=True,
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="everything once, in seconds; nothing is written")
    parser.add_argument("--rates", type=int, nargs="+", help="workers at one probe a second (default 1000 5000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="measured seconds of each run")
    options = parser.parse_args()
    rates = options.rates or ([50] if options.smoke else [1000, 5000])
    rounds, seconds = (1, 1) if options.smoke else (options.rounds, options.seconds)
    with target() as served:
        rows = [
            measure(engine, served, workers, seconds) for workers in rates for _ in range(rounds) for engine in ENGINES
        ]
        workers = 1000 if options.smoke else 100_000
        arguments = [*command("probelet", served.port, workers, 1), "--period-seconds", str(IDLE_PERIOD_SECONDS)]
        idle = run(arguments)
    for workers in rates:
        print(f"{workers:,}/s: {ratio(rows, 'probelet', workers):.2f} x the raw loop")
    print(
        f"{idle['workers']:,} idle workers: {idle['bytes_per_worker']:,} bytes each, added in {idle['add_ms']:,.0f} ms"
    )
    if not options.smoke:
        write({"schema": "probelet-bench-results/1", "machine": machine(), "rows": rows, "idle": idle})


def write(document: dict[str, Any]) -> None:
    document["digest"] = digest([*document["rows"], document["idle"]])
    JSON.parent.mkdir(exist_ok=True)
    JSON.write_text(json.dumps(document, indent=1) + "\n")
    PAGE.write_text(render(document))
    print(f"written: {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}")


if __name__ == "__main__":
    main()
