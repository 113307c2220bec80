"""Documents for the boundary: a pod with one exec probe, and what a runtime says of it."""

import json
from typing import Any

UID = "u"


def pod(**probe: Any) -> bytes:
    """A v1.Pod whose container `c` has a liveness probe with these fields."""
    fields = {"exec": {"command": ["true"]}, "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, **probe}
    container = {"name": "c", "livenessProbe": fields}
    return json.dumps({"metadata": {"uid": UID, "name": "p"}, "spec": {"containers": [container]}}).encode()


def facts(started_at_ms: int = 0, **container: Any) -> bytes:
    """Its container runs since ``started_at_ms``."""
    running = {"name": "c", "id": "c://1", "state": "running", "started_at_ms": started_at_ms, **container}
    return json.dumps({"phase": "Running", "pod_ip": "127.0.0.1", "containers": [running]}).encode()
