"""A pod for an engine of a benchmark that needs no runtime: all of its containers run, with one liveness probe each."""

import json
from typing import Any


def engine_pod(uid: str, address: str, containers: int, probe: dict[str, Any]) -> tuple[bytes, bytes]:
    """The definition and the status. Of ``probe`` a period, a handler and options are wanted."""
    whole = {"timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3, **probe}
    names = [f"c{number}" for number in range(containers)]
    spec = {"containers": [{"name": name, "livenessProbe": whole} for name in names]}
    rows = [
        {"name": name, "id": f"test://{uid}-{name}", "state": "running", "started_at_ms": 1, "started": True}
        for name in names
    ]
    metadata = {"name": uid, "namespace": "bench", "uid": uid}
    status = {"phase": "Running", "pod_ip": address, "containers": rows}
    return json.dumps({"metadata": metadata, "spec": spec}).encode(), json.dumps(status).encode()
