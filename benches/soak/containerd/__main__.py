"""Real containers under random kills of probelet, of containerd and of containers: ``make soak-containerd``.

For two thirds of the time the soak kills everything. In the last third it spares probelet, to see whether its memory
and descriptors grow. It expects:

- Every restart of a container has a cause: the soak killed it, probelet reported a kill for its liveness probe, it
  ended by itself, or a kill cut its start short.
- Every restart counts one, in the runtime and in probelet's status.
- No two instances of a container run at once.
- Memory and file descriptors do not grow.
- The drain at the end leaves no process, socket, sandbox, address, mount or log.

It exits with 1 if one of these fails, and with 3 if containerd cannot run.
"""

import argparse
import json
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from benches.machine import machine
from benches.soak.containerd.remains import remains
from benches.soak.containerd.soak import RECOVERY_SECONDS, SETTLE_SECONDS, Sample, Soak
from tests.system.containerd.machine import Containerd, what_is_missing
from tests.system.containerd.node import ContainerdNode

SCHEMA = "probelet-soak-containerd/1"
REPORT = Path("build/soak-containerd.json")

PODS = 100
MINUTES = 30.0
STEADY_SHARE = 1 / 3
"""In this last share of the time the soak no longer kills probelet."""

MEMORY_GROWTH_MAX = 1.1
"""The median may grow by this factor from the first to the last quarter of the steady part."""
DESCRIPTORS_MORE_MAX = 20
"""Calls in flight hold some descriptors."""
LINES_MAX = 20

DETAILS = ("samples", "findings", "outages", "ended")
"""These parts of the report are too long for a terminal."""


def main() -> int:
    options = _options()
    if why := what_is_missing():
        print(why, file=sys.stderr)
        return 3
    containerd = Containerd()
    report: dict[str, Any] = {"schema": SCHEMA, "minutes": options.minutes, "seed": options.seed, "machine": machine()}
    with tempfile.TemporaryDirectory(prefix="probelet-soak-") as folder:
        try:
            containerd.start()
            report["containerd"] = containerd.version()
            report |= _soak(containerd, Path(folder), options.pods, 60 * options.minutes, options.seed)
        finally:
            containerd.stop()
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(json.dumps(report, indent=1) + "\n")
    found = report["findings"]
    print(json.dumps({key: value for key, value in report.items() if key not in DETAILS}, indent=1))
    print("as expected" if not found else f"NOT AS EXPECTED, in {len(found)} cases (--seed {options.seed})")
    print(*found[:LINES_MAX], sep="\n")
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches.soak.containerd", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--pods", type=int, default=PODS)
    parser.add_argument("--seed", type=int, default=1, help="decides which faults come, and when")
    parser.add_argument("--report", type=Path, default=REPORT, help="the file for the JSON")
    return parser.parse_args()


def _soak(containerd: Containerd, folder: Path, pods: int, seconds: float, seed: int) -> dict[str, Any]:
    node = ContainerdNode(containerd, folder, RECOVERY_SECONDS)
    run = Soak(containerd, node, pods, seed)
    probes = sum(name.endswith("Probe") for container in run.containers.values() for name in container)
    try:
        run.start()
        found = [] if run.settle() else ["not every pod that is well got ready at first"]
        every = (run.kill_probelet, run.kill_containerd, run.kill_container, run.kill_container)
        run.faults(seconds * (1 - STEADY_SHARE), every)
        run.settle()
        node.signal(signal.SIGTERM)
        run.start("--drain")
        run.settle()
        steady = len(run.samples)
        run.faults(seconds * STEADY_SHARE, (run.kill_containerd, run.kill_container, run.kill_container))
        run.settle()
        run.sample()
        found += run.findings()
        grown, growth = _growth(run.samples[steady:], probes)
        code = node.signal(signal.SIGTERM, SETTLE_SECONDS)
        found += grown + ([f"exit code {code} of the drain"] if code else [])
        found += remains(containerd, node, run.sandboxes, run.ledger.instances)
    finally:
        node.close()
    return run.document() | {"steady": growth, "findings": found, "samples": [_row(one) for one in run.samples]}


def _growth(samples: list[Sample], probes: int) -> tuple[list[str], dict[str, Any]]:
    """Returns what grew too much while probelet was not killed, and the figures themselves.

    For descriptors it takes the least of each quarter, because attempts and calls in flight hold more for a moment.
    """
    quarter = max(1, len(samples) // 4)
    parts = {"first": samples[:quarter], "last": samples[-quarter:]}
    kib = {part: median(one[1].resident for one in rows) for part, rows in parts.items()}
    descriptors = {part: min(one[1].descriptors for one in rows) for part, rows in parts.items()}
    epolls = max(one[1].epolls for one in samples)
    found = []
    if kib["last"] > kib["first"] * MEMORY_GROWTH_MAX:
        found.append(f"probelet's memory grew from {kib['first']} to {kib['last']} KiB")
    if descriptors["last"] > descriptors["first"] + DESCRIPTORS_MORE_MAX:
        found.append(f"probelet's descriptors grew from {descriptors['first']} to {descriptors['last']}")
    if epolls > probes + DESCRIPTORS_MORE_MAX:
        found.append(f"probelet has {epolls} epoll instances for {probes} probes")
    minutes = (samples[-1][0] - samples[0][0]) / 60
    held = {"kib": kib, "descriptors": descriptors, "epolls": epolls, "probes": probes}
    return found, {"minutes": round(minutes, 1), "samples": len(samples), **held}


def _row(sample: Sample) -> dict[str, Any]:
    seconds, probelet, containerd, shims = sample
    return {
        "seconds": round(seconds),
        "probelet": asdict(probelet),
        "containerd": asdict(containerd),
        "shims": shims,
    }


if __name__ == "__main__":
    sys.exit(main())
