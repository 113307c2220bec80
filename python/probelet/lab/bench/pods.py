"""The pods of a benchmark: one container with one readiness probe each."""

import json
import time
from collections.abc import Iterator
from typing import Any

from probelet.lab.bench.load import Handler, Load
from probelet.lab.bench.place import Place

PROGRAM = ["true"]
"""Command of the exec probes. Nothing runs it: the benchmark measures how attempts are started and ended."""

BURST_DELAY = 2
"""The initial delay of workers in phase, in seconds. At least a second is left of it, because a container's start
counts in whole seconds; adding thousands of workers takes a tenth of that."""


def action(handler: Handler, port: int) -> dict[str, Any]:
    """The probe's action, with defaults set."""
    match handler:
        case "http" | "https":
            return {"httpGet": {"path": "/healthz", "port": port, "scheme": handler.upper()}}
        case "tcp":
            return {"tcpSocket": {"port": port}}
        case "grpc":
            return {"grpc": {"port": port, "service": ""}}
        case "exec":
            return {"exec": {"command": PROGRAM}}


def pod(number: int, handler: Handler, port: int, period: int, delay: int = 0) -> bytes:
    """A defaulted v1.Pod in the engine's form. ``period`` and ``delay``, the initial delay, are in seconds."""
    probe = action(handler, port) | {
        "initialDelaySeconds": delay,
        "timeoutSeconds": 1,
        "periodSeconds": period,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"bench-{number}", "namespace": "default", "uid": uid(number)},
            "spec": {"restartPolicy": "Always", "containers": [{"name": "app", "readinessProbe": probe}]},
        }
    ).encode()


def facts(number: int, address: str, restarts: int = 0, started_at_ms: int = 1) -> bytes:
    """The runtime's status of a running pod whose container restarted ``restarts`` times."""
    identity = f"process://{restarts:08x}{number:056x}"
    container = {"name": "app", "id": identity, "state": "running", "started_at_ms": started_at_ms}
    return json.dumps(
        {"phase": "Running", "pod_ip": address, "containers": [container], "init_containers": []}
    ).encode()


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def node(load: Load, target: Place) -> Iterator[tuple[str, bytes, bytes]]:
    """Yields ``(uid, pod, facts)`` of every worker.

    The workers of a burst have an initial delay. While the engine makes first probes it starts other workers later, and
    a worker's phase is the moment at which the engine started it.
    """
    delay, started_at_ms = (BURST_DELAY, round(time.time() * 1_000)) if load.burst else (0, 1)
    for number in range(load.workers):
        place = load.where(target, number)
        body = pod(number, load.handler, place.port, load.period, delay)
        yield uid(number), body, facts(number, place.address(number), started_at_ms=started_at_ms)
