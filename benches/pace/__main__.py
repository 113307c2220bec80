"""Whether ordinary probes are later beside 100 pods that ask 20 times a second: ``make bench-pace``.

An engine probes 1,000 ordinary workers once a second over HTTP, in turn alone and beside 100 workers with
``periodMilliseconds: 50``, within the default limit of 1,000 extra attempts a second and without one. The rounds of a
turn follow each other at once, in another order each time. Lateness is the engine's own figure of each ordinary
attempt: from when it was due until it began.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any, Final

from probelet._rust import Engine

from benches.engine_pod import engine_pod
from benches.machine import ROOT, machine
from benches.pace import page
from benches.report.results import FOLDER

CONTAINERS: Final = 10
ORDINARY_PODS: Final = 100
FAST_PODS: Final = 100
FAST_MS: Final = 50
MODES: Final = {"alone": None, "limit 1,000": 1000, "no limit": 0}
"""The rounds of a turn: the limit of extra attempts a second; None without the pods that make any."""
HISTORY: Final = 64


def measure(limit: int | None, port: int, seconds: float, warm: float) -> dict[str, Any]:
    """One round, on an engine of its own."""
    engine = Engine(seed=1, start_jitter=True, phase="spread", extra_runs_per_second=limit or 0)
    try:
        probe = {"httpGet": {"port": port, "path": "/"}, "periodSeconds": 1}
        fast = {**probe, "options": {"periodMilliseconds": FAST_MS}}
        made = [(f"o{n}", f"127.1.0.{n + 1}", CONTAINERS, probe) for n in range(ORDINARY_PODS)]
        made += [(f"f{n}", f"127.2.0.{n + 1}", 1, fast) for n in range(FAST_PODS if limit is not None else 0)]
        for uid, address, containers, asked in made:
            definition, status = engine_pod(uid, address, containers, asked)
            engine.define_pod(definition)
            engine.sync_pod(uid, status)
        time.sleep(warm)
        before, began_ms = runs(engine), engine.wall_ms()
        time.sleep(seconds)
        took = (engine.wall_ms() - began_ms) / 1e3
        made_fast = runs(engine) - before
        late = [
            attempt["lateness_ms"]
            for state in json.loads(engine.probe_states(None, HISTORY))
            if state["pod_uid"].startswith("o")
            for attempt in state["history"]["attempts"]
            if attempt["at_ms"] >= began_ms
        ]
    finally:
        engine.close()
    late.sort()
    return {
        "attempts": len(late),
        "fast_rate": round(made_fast / took, 1),
        "p50_ms": round(statistics.median(late), 3),
        "p99_ms": round(late[len(late) * 99 // 100], 3),
        "max_ms": round(late[-1], 3),
    }


def runs(engine: Engine) -> int:
    """The runs of the fast workers so far."""
    return sum(state["runs"] for state in json.loads(engine.probe_states()) if state["pod_uid"].startswith("f"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--warm", type=float, default=4.0)
    parser.add_argument("--keep", action="store_true", help="keep the result and render the page")
    arguments = parser.parse_args()
    load_before = os.getloadavg()
    target = subprocess.Popen([ROOT / "build" / "target", "0.0.0.0:0"], stdout=subprocess.PIPE, text=True)
    assert target.stdout is not None
    port = int(target.stdout.readline().rsplit(":", 1)[1])
    turns = []
    try:
        for number in range(arguments.turns):
            names = list(MODES)
            order = names[number % len(names) :] + names[: number % len(names)]
            rows = {name: measure(MODES[name], port, arguments.seconds, arguments.warm) for name in order}
            turns.append({name: rows[name] for name in names})
            print(json.dumps(turns[-1]), flush=True)
    finally:
        target.terminate()
        target.wait()
    report = {
        "schema": page.SCHEMA,
        "machine": machine(),
        "load_before": load_before,
        "load_after": os.getloadavg(),
        "turns": turns,
        "medians": {
            name: {key: round(statistics.median(turn[name][key] for turn in turns), 3) for key in page.FIGURES}
            for name in MODES
        },
    }
    print(json.dumps(report["medians"]))
    if arguments.keep:
        FOLDER.mkdir(exist_ok=True)
        page.RESULT.write_text(json.dumps(report, indent=1) + "\n")
        page.PAGE.write_text(page.render(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
