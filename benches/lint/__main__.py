"""``python -m benches.lint``: how many manifests a second and core, and how long a small file takes.

Each file has two manifests: a Deployment of two containers and four probes, and its Service. Every linter gets all
files in one process; its time is user + system time (``getrusage``) of that process, the least of some runs. ``perf``
counts its instructions, which other work on the machine does not change. kube-score and kube-linter are measured if
they are on PATH: ``go install github.com/zegl/kube-score/cmd/kube-score@latest``. probelet has its bytecode, as every
package has that pip installed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benches.machine import machine

PROBELET = [sys.executable, "-m", "probelet", "lint"]
OBJECTS = 2
"""In each file."""

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{number}
  labels: {{app: web-{number}}}
spec:
  replicas: 3
  selector:
    matchLabels: {{app: web-{number}}}
  template:
    metadata:
      labels: {{app: web-{number}}}
    spec:
      containers:
        - name: web
          image: registry.example/web:1.{number}
          ports:
            - {{name: http, containerPort: 8080}}
          env:
            - {{name: LEVEL, value: info}}
            - {{name: BACKEND, value: "http://backend:9000"}}
          resources:
            requests: {{cpu: 100m, memory: 64Mi}}
            limits: {{memory: 128Mi}}
          livenessProbe:
            httpGet: {{path: /livez, port: http}}
            periodSeconds: 10
            failureThreshold: 6
          readinessProbe:
            httpGet: {{path: /readyz, port: http}}
            periodSeconds: 5
            timeoutSeconds: 2
        - name: proxy
          image: registry.example/proxy:2
          livenessProbe:
            exec:
              command: ["sh", "-c", "curl -sf http://localhost:15020/healthz || exit 1"]
            initialDelaySeconds: 60
            periodSeconds: 5
          readinessProbe:
            tcpSocket: {{port: 15021}}
---
apiVersion: v1
kind: Service
metadata:
  name: web-{number}
spec:
  selector: {{app: web-{number}}}
  ports:
    - {{port: 80, targetPort: http}}
"""


class Cost(NamedTuple):
    """What a command cost."""

    cpu_seconds: float
    wall_seconds: float


def cost(command: list[str], runs: int, environment: dict[str, str]) -> Cost:
    """The least of some runs after one that does not count; a linter may exit with any code that is no crash."""
    found = []
    for _ in range(runs + 1):
        before, began = os.times(), time.monotonic()
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        after, wall = os.times(), time.monotonic() - began
        if ended.returncode < 0 or "Traceback" in ended.stderr or "panic:" in ended.stderr:
            raise SystemExit(f"{command[0]}: {ended.stderr}")
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        found.append(Cost(spent, wall))
    return min(found[1:])


def instructions(command: list[str], environment: dict[str, str]) -> str:
    """How many instructions the command takes in user mode, in words; empty where ``perf`` cannot count them."""
    if shutil.which("perf") is None:
        return ""
    counted = ["perf", "stat", "-x,", "-e", "instructions:u", *command]
    ended = subprocess.run(counted, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    number = ended.stderr.rpartition("\n")[0].rpartition("\n")[2].partition(",")[0]
    return f", {int(number) / 1e9:.2f} G instructions" if number.isdecimal() else ""


def linters(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The command of each linter that is here."""
    yield "probelet lint", [*PROBELET, str(folder)]
    if shutil.which("kube-score"):
        yield "kube-score", ["kube-score", "score", *map(str, sorted(folder.iterdir()))]
    if shutil.which("kube-linter"):
        yield "kube-linter", ["kube-linter", "lint", str(folder)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benches.lint")
    parser.add_argument("--manifests", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    known = machine()
    print(f"{known['cpu']}, {known['cores']} cores, Python {known['python']}, commit {known['commit']}")
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as bytecode:
        folder = Path(name)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for number in range(options.manifests):
            (folder / f"web-{number:05}.yaml").write_text(MANIFEST.format(number=number))
        for linter, command in linters(folder):
            spent = cost(command, options.runs, environment).cpu_seconds
            rate = options.manifests / spent
            print(
                f"{linter:<14} {options.manifests} files: {spent:.2f} s of a core, {rate:.0f} files/s, "
                f"{OBJECTS * rate:.0f} manifests/s{instructions(command, environment)}"
            )
        small = folder / "web-00000.yaml"
        for what, command in (("--help", [*PROBELET, "--help"]), ("one file", [*PROBELET, str(small)])):
            cpu, wall = (round(1000 * seconds) for seconds in cost(command, 4 * options.runs, environment))
            print(f"probelet lint, {what:<9} {cpu:4} ms of a core, {wall:4} ms{instructions(command, environment)}")


if __name__ == "__main__":
    main()
