"""Rows of container_probe.go with real processes: the service on the embedded runtime, with shorter periods."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kubelet.upstream.row import row
from tests.system.run.process_node import TARGET, ProcessNode

pytestmark = pytest.mark.e2e

REDIRECTOR = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

class Redirector(BaseHTTPRequestHandler):
    def do_GET(self):
        to = parse_qs(urlsplit(self.path).query)["loc"][0]
        body = f'<a href="{to}">Found</a>.\\n\\n'.encode()
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

HTTPServer((os.environ["POD_IP"], 8080), Redirector).serve_forever()
"""


def shell(script: str, **fields: Any) -> dict[str, Any]:
    return {"name": "app", "command": ["sh", "-c", script], **fields}


def probe(handler: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**handler, "periodSeconds": 1, "failureThreshold": 1, **fields}


def execed(*command: str) -> dict[str, Any]:
    return {"exec": {"command": [*command]}}


def get(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": 8080}}


@row("X3")
async def test_a_failed_exec_liveness_probe_restarts_the_container(row: str, node: ProcessNode, tmp_path: Path) -> None:
    file = tmp_path / "health"
    liveness = probe(execed("cat", str(file)), initialDelaySeconds=2, timeoutSeconds=5)
    node.run("busybox", shell(f"echo ok > {file}; sleep 1; rm -rf {file}; exec sleep 600", livenessProbe=liveness))
    await node.until(lambda: node.container("busybox").get("restart_count", 0) >= 1)
    assert node.events("Unhealthy")[0]["message"].startswith("Liveness probe failed: cat: ")
    assert node.events("Killing")[0]["message"] == "Container app failed liveness probe, will be restarted"


@row("X5")
async def test_a_500_from_healthz_restarts_the_container(row: str, node: ProcessNode) -> None:
    command = [str(TARGET), ":8080", "ok", "status=500@1"]
    liveness = probe(get("/healthz"), initialDelaySeconds=2)
    node.run("liveness", {"name": "app", "command": command, "livenessProbe": liveness})
    await node.until(lambda: node.container("liveness").get("restart_count", 0) >= 1)
    assert node.events("Unhealthy")[0]["message"] == "Liveness probe failed: HTTP probe failed with statuscode: 500"


@row("X13")
async def test_a_redirect_to_another_host_warns_and_restarts_nothing(row: str, node: ProcessNode) -> None:
    command = [sys.executable, "-c", REDIRECTOR]
    ready = probe({"tcpSocket": {"port": 8080}})
    liveness = probe(get("/redirect?loc=http%3A%2F%2F0.0.0.0%2F"))
    node.run(
        "redirect",
        {
            "name": "app",
            "command": command,
            "startupProbe": ready | {"failureThreshold": 30},
            "livenessProbe": liveness,
        },
    )
    await node.until(lambda: sum(event["count"] for event in node.events("ProbeWarning")) >= 3)
    text = 'Probe terminated redirects, Response body: <a href="http://0.0.0.0/">Found</a>.'
    assert text in node.events("ProbeWarning")[0]["message"]
    assert node.container("redirect")["restart_count"] == 0


@row("X18")
async def test_a_liveness_probes_own_grace_replaces_the_pods(row: str, node: ProcessNode) -> None:
    liveness = probe(get("/healthz"), initialDelaySeconds=1, terminationGracePeriodSeconds=3)
    script = "trap '' TERM; while :; do sleep 0.1; done"
    node.run("override", shell(script, livenessProbe=liveness), terminationGracePeriodSeconds=500)
    await node.until(lambda: node.container("override").get("restart_count", 0) >= 1)
    assert node.container("override")["last_exit"]["exit_code"] == 137


@row("X22")
async def test_a_pod_loses_readiness_while_it_terminates(row: str, node: ProcessNode, tmp_path: Path) -> None:
    file = tmp_path / "ready"
    script = f"trap 'rm -f {file}; sleep 4; exit 0' TERM; touch {file}; while :; do sleep 0.1; done"
    readiness = probe(execed("cat", str(file)))
    node.run("ends", shell(script, readinessProbe=readiness), terminationGracePeriodSeconds=10)
    await node.until(lambda: node.pod("ends")["ready"])
    node.remove("ends")
    await node.until(lambda: not node.pod("ends")["ready"])
    assert node.pod("ends")["phase"] == "Running", "it is not ready while it is still there"
    await node.until(lambda: not node.pod("ends")["phase"])
