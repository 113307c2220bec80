"""What a probe from inside its pod's network costs beside an ordinary one: ``make bench-network`` (root).

One server process answers in 100 namespaces, which are on a bridge as on a node, and at 100 loopback addresses of this
machine. An engine probes it 1,000 times a second over HTTP: the pods with ``network: pod``, the same pods in the
ordinary way, and the loopback addresses. The three rounds of a turn follow each other at once, in an order that
changes. CPU is the processor time of the engine's threads over the server's answers.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from probelet._rust import Engine

from benches.engine_pod import engine_pod
from benches.machine import machine
from benches.network import page
from benches.network.pods import PODS, PORT, Target, pods
from benches.report.results import FOLDER

CONTAINERS: Final = 10
PERIOD_SECONDS: Final = 1
THREADS: Final = ("probelet-engine", "probelet-netns")
MODES: Final = ("loopback", "ordinary", "pod")


class Server:
    """The process that answers."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        numbers = [each.fileno() for each in sockets]
        command = [sys.executable, "-m", "benches.network.server", *map(str, numbers)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=numbers, text=True, bufsize=1
        )

    def answered(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def used() -> dict[str, int]:
    """Nanoseconds of processor time of the engine's threads."""
    found = dict.fromkeys(THREADS, 0)
    for task in Path("/proc/self/task").iterdir():
        name = (task / "comm").read_text().strip()
        if name in found:
            found[name] += int((task / "schedstat").read_text().split()[0])
    return found


def measure(mode: str, targets: list[Target], server: Server, seconds: float, warm: float) -> dict[str, Any]:
    """One round of one mode, on an engine of its own."""
    engine = Engine(seed=1, start_jitter=True, phase="spread")
    try:
        probe: dict[str, Any] = {"httpGet": {"port": PORT, "path": "/healthz"}, "periodSeconds": PERIOD_SECONDS}
        probe |= {"options": {"network": "pod"}} if mode == "pod" else {}
        for number, target in enumerate(targets):
            uid, address = f"{mode}-{number}", target.loopback if mode == "loopback" else target.ip
            definition, status = engine_pod(uid, address, CONTAINERS, probe)
            if mode == "pod":
                engine.enter_network(uid, target.namespace.path)
            engine.define_pod(definition)
            engine.sync_pod(uid, status)
        time.sleep(warm)
        before, answered, began = used(), server.answered(), time.monotonic()
        time.sleep(seconds)
        after, count, took = used(), server.answered() - answered, time.monotonic() - began
        states = json.loads(engine.probe_states())
        bad = sum(1 for state in states if state["failures"] or state["errors"])
        causes = {state["last"]["cause"] for state in states if state["last"]} - {"ok"}
    finally:
        engine.close()
    each = {name: (after[name] - before[name]) / count / 1e3 for name in THREADS}
    return {
        "mode": mode,
        "attempts": count,
        "rate": round(count / took, 1),
        "bad_workers": bad,
        "causes": sorted(causes),
        "cpu_us": round(sum(each.values()), 2),
        "of_the_other_thread_us": round(each["probelet-netns"], 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--warm", type=float, default=4.0)
    parser.add_argument("--keep", action="store_true", help="keep the result and render the page")
    arguments = parser.parse_args()
    load_before = os.getloadavg()
    turns = []
    with ExitStack() as stack:
        # Threads that enter namespaces must not be the one that others start from.
        aside = stack.enter_context(ThreadPoolExecutor(1))
        made = pods()
        targets, listeners = aside.submit(made.__enter__).result()
        stack.callback(lambda: aside.submit(made.__exit__, None, None, None).result())
        server = Server(listeners)
        stack.callback(server.close)
        for number in range(arguments.rounds):
            modes = MODES[number % 3 :] + MODES[: number % 3]
            rows = {mode: measure(mode, targets, server, arguments.seconds, arguments.warm) for mode in modes}
            cost = {mode: rows[mode]["cpu_us"] for mode in MODES}
            ratios = {mode: round(cost["pod"] / cost[mode], 3) for mode in MODES if mode != "pod"}
            turns.append({"rows": rows, "ratios": ratios})
            print(json.dumps(turns[-1]), flush=True)
    report = {
        "schema": page.SCHEMA,
        "machine": machine(),
        "load_before": load_before,
        "load_after": os.getloadavg(),
        "pods": PODS,
        "turns": turns,
        "ratios": {
            mode: round(statistics.median(turn["ratios"][mode] for turn in turns), 3) for mode in turns[0]["ratios"]
        },
    }
    print(f"median ratios {report['ratios']}")
    if arguments.keep:
        FOLDER.mkdir(exist_ok=True)
        page.RESULT.write_text(json.dumps(report, indent=1) + "\n")
        page.PAGE.write_text(page.render(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
