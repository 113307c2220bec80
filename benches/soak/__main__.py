"""200 pods with mixed probes for ten minutes, ended by SIGTERM, then a short run ended by SIGKILL: ``make soak``.

It expects that 99 of 100 attempts begin less than 5 ms late, that healthy pods never restart and the others do, and
that no process, socket or file is left. It exits with 1 if not.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from benches.machine import ROOT
from benches.measure.target import PROGRAM

PODS = 200
LATENESS_SECONDS = "0.005"
LATENESS_PART = 0.99
LEFT_SECONDS = 1.0
"""After SIGKILL everything must be gone within this time."""
START_SECONDS = 30
"""A service that takes longer to open its pages does not run."""
KILLED_AFTER_SECONDS = 20
LINES_MAX = 20
"""The report shows at most this many problems, because two hundred pods with one problem need one line."""

HTTP = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1}
TCP = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
EXEC = {"exec": {"command": ["true"]}, "periodSeconds": 10}

# Name, share of the pods, behaviour of the target, probes, whether it stays healthy.
KINDS: list[tuple[str, int, list[str], dict[str, Any], bool]] = [
    ("web", 100, [], {"livenessProbe": HTTP, "readinessProbe": HTTP}, True),
    ("tcp", 40, [], {"livenessProbe": TCP, "readinessProbe": TCP}, True),
    ("exec", 20, [], {"livenessProbe": EXEC}, True),
    ("slow", 10, ["refuse", "ok@5"], {"startupProbe": {**HTTP, "failureThreshold": 30}, "livenessProbe": HTTP}, True),
    ("flap", 10, ["ok", "status=503@10", "ok@20", "status=503@30", "ok@40"], {"readinessProbe": HTTP}, True),
    ("hang", 10, ["ok", "hang@15", "ignore-term"], {"livenessProbe": HTTP}, False),
    ("crash", 10, ["ok", "crash=3@5"], {"readinessProbe": HTTP}, False),
]


def manifests(folder: Path) -> None:
    for kind, count, behaviour, probes, _ in KINDS:
        for number in range(count):
            container = {"name": "app", "command": [str(PROGRAM), ":8080", *behaviour], **probes}
            spec = {"terminationGracePeriodSeconds": 2, "containers": [container]}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{kind}-{number}"}, "spec": spec}
            (folder / f"{kind}-{number}.json").write_text(json.dumps(pod))


class Run:
    """``probelet run`` over the pods, in a folder that must be empty but for manifests and log at the end."""

    def __init__(self, folder: Path) -> None:
        self.pods, self.state, self.log = folder / "pods", folder / "state", folder / "log"
        self.pods.mkdir()
        manifests(self.pods)
        probelet = Path(sys.executable).with_name("probelet")
        options = ["--listen", "127.0.0.1:0", "--state-dir", str(self.state), "--log-format", "json"]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen([probelet, "run", str(self.pods), *options], cwd=ROOT, stderr=output)
        give_up = time.monotonic() + START_SECONDS
        while not (found := re.search(r"http://[\d.]+:\d+", self.log.read_text())):
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.process.kill()
                sys.exit(self.log.read_text() or f"probelet run said nothing within {START_SECONDS} s")
            time.sleep(0.05)
        self.url = found.group()

    def status(self) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.url}/statusz", headers={"Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            document: dict[str, Any] = json.load(answer)
            return document

    def on_time(self) -> tuple[float, int]:
        """Returns the share of attempts that began in time, and the number of attempts."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:
            page = answer.read().decode()

        def value(bound: str) -> int:
            pattern = rf'^probelet_probe_lateness_seconds_bucket{{le="{re.escape(bound)}"}} (\d+)$'
            match = re.search(pattern, page, re.MULTILINE)
            assert match, f"no lateness of {bound} on /metrics"
            return int(match[1])

        return value(LATENESS_SECONDS) / max(value("+Inf"), 1), value("+Inf")

    def complaints(self) -> list[str]:
        """Returns the warnings and errors in the service's own log."""
        lines = map(json.loads, self.log.read_text().splitlines())
        return [json.dumps(line) for line in lines if line["level"] in ("warning", "error")][: LINES_MAX // 2]

    def left_behind(self) -> list[str]:
        processes = [f"process {line}" for line in command_lines() if str(self.state) in line or str(PROGRAM) in line]
        return processes + [f"file {path}" for path in self.state.rglob("*")]


def command_lines() -> list[str]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # the process ended meanwhile
    return lines


def problems(status: dict[str, Any]) -> list[str]:
    """Returns the pods that did not behave as their kind should."""
    healthy = {kind: good for kind, _, _, _, good in KINDS}
    found = []
    for pod in status["pods"]:
        kind, restarts = pod["name"].partition("-")[0], pod["containers"][0]["restart_count"]
        if healthy[kind] and (restarts or not pod["ready"]):
            found.append(f"{pod['name']}: {restarts} restarts, ready {pod['ready']}")
        if not healthy[kind] and not restarts:
            found.append(f"{pod['name']}: not restarted")
    return found if len(status["pods"]) == PODS else [*found, f"{len(status['pods'])} pods instead of {PODS}"]


def soak(folder: Path, minutes: float) -> list[str]:
    run = Run(folder)
    try:
        for minute in range(1, max(round(minutes), 1) + 1):
            time.sleep(60 * min(minutes, 1))
            part, attempts = run.on_time()
            restarts = Counter[str]()
            for pod in run.status()["pods"]:
                restarts[pod["name"].partition("-")[0]] += pod["containers"][0]["restart_count"]
            print(f"minute {minute}: {attempts:,} attempts, {part:.3%} in time, restarts {dict(restarts)}", flush=True)
        found = problems(run.status())
        if part < LATENESS_PART:
            found.append(f"only {part:.3%} of the attempts began within {LATENESS_SECONDS} s")
        run.process.send_signal(signal.SIGTERM)
        code = run.process.wait(30)
        print(f"SIGTERM: exit code {code}")
        if found:
            found[:0] = run.complaints()
        return found + ([f"exit code {code}"] if code else []) + run.left_behind()
    finally:
        run.process.kill()


def killed(folder: Path) -> list[str]:
    run = Run(folder)
    time.sleep(KILLED_AFTER_SECONDS)
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    time.sleep(LEFT_SECONDS)
    # A killed service cannot remove its own socket and lock; the next service takes them over.
    return [line for line in run.left_behind() if line.startswith("process") or "runtime" in line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(prefix="probelet-soak-") as one, tempfile.TemporaryDirectory() as two:
        found += soak(Path(one), options.minutes)
        found += killed(Path(two))
    print("as expected" if not found else f"NOT AS EXPECTED, in {len(found)} cases")
    print(*found[:LINES_MAX], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
