"""A pod on the host's network, as a developer runs it: its address, its probe, and the line about what is ignored."""

import json
import socket
import sys
from pathlib import Path

import pytest

from tests.system.cli.conftest import Start, wait_for

pytestmark = pytest.mark.e2e

SERVER = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
HTTPServer((os.environ["POD_IP"], int(os.environ["PORT"])), Handler).serve_forever()
"""


def test_it_listens_on_the_nodes_address_and_its_probe_goes_there(start: Start, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    container = {
        "name": "app",
        "image": "python:3",
        "tty": True,
        "command": [sys.executable, "-c", SERVER],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "ports": [{"name": "http", "containerPort": port}],
        "readinessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 1},
    }
    spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 0, "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"PORT": str(port)}}
    (tmp_path / "web.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, settings]}))
    run = start(str(tmp_path / "web.json"))
    wait_for(lambda: run.status()["web"]["ready"] if run.line("listening") else False, "the pod to be ready")
    web = run.status()["web"]
    assert web["ip"] == "127.0.0.1"
    assert [found["field"] for found in web["ignored"]] == ["spec.containers[0].image", "spec.containers[0].tty"]
    warned = (line["message"] for line in run.log_lines if line["level"] == "warning")
    assert [line for line in warned if "ignored" in line] == [
        "1 pod: ignored on the embedded runtime: image (1), tty (1); 'probelet status -o json' lists each"
    ]
