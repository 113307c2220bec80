"""Probes over TLS into containers of a real containerd, across the network that CNI makes."""

import shutil
from typing import Any

import pytest

from tests.support.required import missing
from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _go() -> None:
    if shutil.which("go") is None:
        missing("go", "the server that speaks TLS in the tests' image is a Go program")


def over_tls(name: str, port: int, server: str, probe: dict[str, object]) -> dict[str, object]:
    """A container whose ``server``, on the port after ``port``, is reached over TLS on ``port``."""
    script = f"{server} & exec tls_front {port} {port + 1} {'h2' if 'grpc' in probe else 'http/1.1'}"
    readiness = {**probe, "periodSeconds": 1, "timeoutSeconds": 30}
    return {"name": name, "command": ["sh", "-c", script], "readinessProbe": readiness}


def https(port: int) -> dict[str, object]:
    return {"httpGet": {"port": port, "scheme": "HTTPS"}}


def grpc_tls(port: int) -> dict[str, object]:
    return {"grpc": {"port": port, "mode": "TLS"}}


def readiness(node: ContainerdNode, container: str) -> dict[str, Any]:
    found: dict[str, Any] = node.container("web", container).get("probes", {}).get("readiness", {"failures": 0})
    return found


def test_https_and_grpc_over_tls_reach_their_containers(node: ContainerdNode) -> None:
    plain = {"name": "plain", "command": ["target", "0.0.0.0:7001"]}
    node.run(
        "web",
        over_tls("https", 8443, "target 127.0.0.1:8444", https(8443)),
        over_tls("fails", 9443, "target 127.0.0.1:9444 status=503", https(9443)),
        over_tls("grpc", 6443, "health 6444", grpc_tls(6443)),
        {**plain, "readinessProbe": {**https(7001), "periodSeconds": 1}},
        {"name": "bare", "command": ["health", "7002"], "readinessProbe": {**grpc_tls(7002), "periodSeconds": 1}},
    )
    node.start("--kubelet-version", "1.37", "--feature-gates", "GRPCContainerProbeTLS=true")
    for name in ("https", "grpc"):
        node.until(lambda name=name: node.container("web", name)["ready"], f"{name} over TLS")
    for name in ("fails", "plain", "bare"):
        node.until(lambda name=name: readiness(node, name)["failures"], f"{name} to fail")
    assert readiness(node, "fails")["last"]["message"] == "HTTP probe failed with statuscode: 503"
    assert "server gave HTTP response to HTTPS client" in readiness(node, "plain")["last"]["message"]
    assert [row["name"] for row in node.pod("web")["containers"] if row["ready"]] == ["https", "grpc"]
    assert all(row["restart_count"] == 0 for row in node.pod("web")["containers"])


def test_a_liveness_probe_over_tls_restarts_its_container(node: ContainerdNode) -> None:
    sick = over_tls("app", 8443, "target 127.0.0.1:8444 ok status=500@2", https(8443))
    liveness = {**https(8443), "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 2}
    node.run("web", {**sick, "livenessProbe": liveness})
    node.start()
    node.until(lambda: node.container("web")["ready"], "a ready container")
    node.until(lambda: node.container("web")["restart_count"] >= 1, "a restart")
    [killing, *_] = node.events("Killing", "app")
    assert killing == "Container app failed liveness probe, will be restarted"
