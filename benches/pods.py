"""The pods of a benchmark: one container with one readiness probe each, and each an address of its own."""

import ipaddress
import json
from collections.abc import Iterator

FIRST_ADDRESS = ipaddress.IPv4Address("127.1.0.0")


def pod(number: int, port: int, period_seconds: int) -> bytes:
    """A defaulted v1.Pod as the engine takes it."""
    probe = {
        "httpGet": {"path": "/healthz", "port": port, "scheme": "HTTP"},
        "initialDelaySeconds": 0,
        "timeoutSeconds": 1,
        "periodSeconds": period_seconds,
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


def facts(number: int) -> bytes:
    """The runtime's word that the pod runs."""
    container = {"name": "app", "id": f"process://{number:064x}", "state": "running", "started_at_ms": 1}
    return json.dumps(
        {
            "phase": "Running",
            "pod_ip": str(FIRST_ADDRESS + number),
            "containers": [container],
            "init_containers": [],
        }
    ).encode()


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def node(pods: int, port: int, period_seconds: int) -> Iterator[tuple[str, bytes, bytes]]:
    """``(uid, pod, facts)`` of every pod."""
    return ((uid(number), pod(number, port, period_seconds), facts(number)) for number in range(pods))
