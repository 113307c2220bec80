"""Probes from inside their pod (``network: pod``), where a policy lets no other machine in and where a server listens
on localhost alone."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.required import need_namespaces
from tests.system.cli.conftest import Start, wait_for

pytestmark = pytest.mark.e2e

POLICY = "iptables -A INPUT ! -i lo -j DROP"
"""What a NetworkPolicy without any rule does. The kernel holds it as rules of nftables."""
SERVER = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
HTTPServer((sys.argv[1], 8080), Handler).serve_forever()
"""
CONFIG = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nprobeOptions: true\n"
INSIDE = json.dumps({"app": {"readinessProbe": {"network": "pod"}}})


def manifest(name: str, listens: str, probe: dict[str, Any], **spec: Any) -> dict[str, Any]:
    setup = "true" if spec else POLICY
    command = ["sh", "-c", f'{setup} && exec "$0" -c "$1" {listens}', sys.executable, SERVER]
    container = {"name": "app", "image": "app", "command": command, "readinessProbe": {"periodSeconds": 1, **probe}}
    annotations = {} if name == "outside" else {"probelet.dev/probe-options": INSIDE}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


def test_neither_a_policy_nor_localhost_is_an_obstacle_from_inside(start: Start, tmp_path: Path) -> None:
    need_namespaces("iptables")
    web = {"httpGet": {"port": 8080}}
    pods = [
        manifest("policy", "0.0.0.0", web),
        manifest("localhost", "127.0.0.1", {"httpGet": {"port": 8080, "host": "localhost"}}),
        manifest("tcp", "127.0.0.1", {"tcpSocket": {"port": 8080, "host": "127.0.0.1"}}),
        manifest("foreign", "0.0.0.0", {"tcpSocket": {"port": 8080, "host": "192.0.2.1"}}),
        manifest("outside", "0.0.0.0", web),
        manifest("host", "127.0.0.1", {"tcpSocket": {"port": 8080, "host": "127.0.0.1"}}, hostNetwork=True),
    ]
    (tmp_path / "pods.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    (tmp_path / "config.yaml").write_text(CONFIG)
    run = start(str(tmp_path / "pods.json"), "--config", str(tmp_path / "config.yaml"), "--isolate", "namespace")
    run.line("listening")

    def ready() -> set[str]:
        return {name for name, pod in run.status().items() if pod["ready"]}

    wait_for(lambda: ready() >= {"policy", "localhost", "tcp", "host"}, "the pods that are probed from inside")

    def probe(name: str) -> dict[str, Any]:
        found: dict[str, Any] = run.status()[name]["containers"][0]["probes"]["readiness"]
        return found

    assert probe("policy")["options"]["network"] == {"made_from": "pod", "why": None}
    assert probe("host")["options"]["network"] == {"made_from": "node", "why": "the pod is on the node's network"}
    # An attempt before the pod's network is known does not begin, and says so.
    foreign = "dial tcp 192.0.2.1:8080: not an address of the pod (network: pod)"
    wait_for(lambda: (probe("foreign")["last"] or {}).get("message") == foreign, "the foreign host's failure")
    wait_for(lambda: (probe("outside")["last"] or {}).get("message"), "the policy to drop the node's packets")
    assert "outside" not in ready()
