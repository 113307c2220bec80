"""Real containers under random kills of probelet, of containerd and of containers: ``make soak-containerd``.

Expected: a container that is well is restarted exactly as often as it was killed from outside, one that fails its probe
at most as often as probelet says it killed it; the restart counts shown are those the runtime keeps; memory and file
descriptors stay; the drain at the end leaves no process, sandbox or log. Exit 1 if not, 3 where containerd cannot run.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from probelet.cri.v1 import api_pb2

from tests.e2e.containerd.machine import Containerd, what_is_missing
from tests.e2e.containerd.node import Node

PODS = 100
BETWEEN_SECONDS = (2.0, 15.0)
"""Between two kills: some fall into the recovery from the one before."""
SETTLE_SECONDS = 320.0
"""A container in back-off waits at most five minutes; a pod that does not come back within this never does."""
MEMORY_GROWTH_MAX = 1.3
DESCRIPTORS_MORE_MAX = 20
LINES_MAX = 20

EXEC = {"exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 10, "timeoutSeconds": 10}
HTTP = {"httpGet": {"port": 8080}, "periodSeconds": 1, "timeoutSeconds": 5}
SHELL = ["sh", "-c", "touch /tmp/alive; trap 'exit 0' TERM; while :; do sleep 1; done"]

# Name, share in percent, container. Those called "well" never fail by themselves.
KINDS: list[tuple[str, int, dict[str, Any]]] = [
    ("wellhttp", 50, {"command": ["target", ":8080"], "livenessProbe": HTTP, "readinessProbe": HTTP}),
    ("wellexec", 30, {"command": SHELL, "livenessProbe": EXEC, "readinessProbe": EXEC}),
    ("hang", 10, {"command": ["target", ":8080", "ok", "hang@30"], "livenessProbe": HTTP}),
    ("crash", 10, {"command": ["target", ":8080", "ok", "crash=3@20"], "readinessProbe": HTTP}),
]


class Soak:
    """One run: ``faults`` until the time is over, then ``findings``."""

    def __init__(self, containerd: Containerd, node: Node, pods: int, seed: int) -> None:
        self._containerd = containerd
        self._node = node
        self._random = random.Random(seed)
        self._killed: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._names = [f"{kind}-{number}" for kind, share, _ in KINDS for number in range(max(1, pods * share // 100))]
        containers = {kind: container for kind, _, container in KINDS}
        for name in self._names:
            node.run(name, {"name": name, **containers[name.partition("-")[0]]}, terminationGracePeriodSeconds=1)

    @property
    def _well(self) -> list[str]:
        return [name for name in self._names if name.startswith("well")]

    def settled(self) -> bool:
        """Whether every pod that is well is ready."""
        pods = self._node.pods()
        return all(pods.get(name, {}).get("ready") for name in self._well)

    def settle(self) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        while not self.settled() and time.monotonic() < deadline:
            time.sleep(1)

    def faults(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        faults: tuple[Callable[[], None], ...] = (self.kill_probelet, self.kill_containerd, self.kill_container)
        while time.monotonic() < end:
            time.sleep(self._random.uniform(*BETWEEN_SECONDS))
            fault = self._random.choice((*faults, self.kill_container))
            self._done[fault.__name__] += 1
            fault()
            print(f"{dict(self._done)}: {self._vitals()}", flush=True)

    def kill_probelet(self) -> None:
        self._node.signal(signal.SIGKILL)
        self._node.start("--drain")

    def kill_containerd(self) -> None:
        self._containerd.kill(self._random.choice((signal.SIGKILL, signal.SIGTERM)))
        time.sleep(self._random.uniform(0, 5))
        self._containerd.run()

    def kill_container(self) -> None:
        name = self._random.choice(self._well)
        running = [found for found in self._containers(name) if found.state == api_pb2.CONTAINER_RUNNING]
        for found in running:
            os.kill(self._containerd.pid_of(found.id), signal.SIGKILL)
            self._killed[name] += 1

    def findings(self) -> list[str]:
        """What is not as expected of the containers."""
        found = []
        pods = self._node.pods()
        kills = Counter(line["container"] for line in self._node.said("killing container"))
        for name in self._names:
            instances = self._containers(name)
            counts = [int(one.annotations["io.kubernetes.container.restartCount"]) for one in instances]
            (row,) = pods[name]["containers"]
            if row["restart_count"] != max(counts):
                found.append(f"{name}: {row['restart_count']} restarts shown, the runtime keeps {max(counts)}")
            if sum(one.state == api_pb2.CONTAINER_RUNNING for one in instances) > 1:
                found.append(f"{name}: runs more than once")
            if name.startswith("well") and (max(counts) != self._killed[name] or not pods[name]["ready"]):
                found.append(f"{name}: {max(counts)} restarts, {self._killed[name]} kills, ready {pods[name]['ready']}")
            if name.startswith("hang") and max(counts) > kills[name]:
                found.append(f"{name}: {max(counts)} restarts, {kills[name]} kills said")
        return found

    def left(self) -> list[str]:
        """What a drain has left behind."""
        found = [f"shim {pid}" for pid in self._containerd.shims()]
        found += [f"sandbox {box.metadata.name}" for box in self._node.sandboxes()]
        return found + [f"log {path.name}" for path in self._node.logs.iterdir()]

    def _containers(self, name: str) -> list[api_pb2.Container]:
        return [found for found in self._containerd.containers() if found.metadata.name == name]

    def _vitals(self) -> str:
        resident, descriptors = vitals(self._node.pid)
        return (
            f"probelet {resident / 1024:.1f} MiB, {descriptors} file descriptors, {len(self._containerd.shims())} shims"
        )


def vitals(pid: int) -> tuple[int, int]:
    """Resident KiB and open file descriptors of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return resident, len(list(Path(f"/proc/{pid}/fd").iterdir()))


def soak(containerd: Containerd, folder: Path, pods: int, minutes: float, seed: int) -> list[str]:
    node = Node(containerd, folder)
    run = Soak(containerd, node, pods, seed)
    try:
        node.start("--drain")
        run.settle()
        run.kill_probelet()
        run.settle()
        fresh = vitals(node.pid)
        run.faults(60 * minutes)
        run.settle()
        found = run.findings()
        resident, descriptors = vitals(node.pid)
        print(f"after a start: {fresh}, at the end: {(resident, descriptors)} (KiB, file descriptors)")
        if resident > fresh[0] * MEMORY_GROWTH_MAX or descriptors > fresh[1] + DESCRIPTORS_MORE_MAX:
            found.append(f"grew from {fresh} to {(resident, descriptors)}")
        code = node.signal(signal.SIGTERM, SETTLE_SECONDS)
        return found + ([f"exit code {code}"] if code else []) + run.left()
    finally:
        node.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pods", type=int, default=PODS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if why := what_is_missing():
        print(why, file=sys.stderr)
        return 3
    containerd = Containerd()
    with tempfile.TemporaryDirectory(prefix="probelet-soak-") as folder:
        try:
            containerd.start()
            found = soak(containerd, Path(folder), options.pods, options.minutes, options.seed)
        finally:
            containerd.stop()
    print("as expected" if not found else f"NOT AS EXPECTED, in {len(found)} cases (--seed {options.seed})")
    print(*found[:LINES_MAX], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
