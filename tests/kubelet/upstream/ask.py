"""Runs one attempt of a production handler, as upstream's tests do."""

import json
import socket
from typing import Any

from probelet._rust import attempt

USER_AGENT = "kube-probe/1.36"


def ask(
    probe: dict[str, Any],
    ports: list[tuple[str, int]] | None = None,
    pod_ip: str = "127.0.0.1",
    kubelet_version: str = "1.36",
) -> dict[str, Any]:
    """Runs one attempt of the production handler. A probe that names no timeout gets ten seconds.

    Upstream's tests wait for one second, which a server here may need for its answer while other tests run beside it.
    """
    spec = json.dumps({"timeoutSeconds": 10, **probe}).encode()
    answer: dict[str, Any] = json.loads(attempt(spec, pod_ip, ports or [], USER_AGENT, kubelet_version=kubelet_version))
    return answer


def closed_port() -> int:
    """A loopback port on which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port
