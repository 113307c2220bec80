"""Two pods that use one port, on a runtime whose pods share the machine's network."""

import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.support.required import need_namespaces
from tests.system.cli.conftest import Start, probelet, wait_for

pytestmark = pytest.mark.e2e

# Serves at an address and a port, and waits for them as long as another program has them.
SERVER = """
import http.server, sys, time
place, handler = (sys.argv[1], int(sys.argv[2])), http.server.SimpleHTTPRequestHandler
while True:
    try:
        http.server.ThreadingHTTPServer(place, handler).serve_forever()
    except OSError:
        time.sleep(0.05)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])


def pod(name: str, server: Path, address: str, port: int) -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: app
    command: [{sys.executable}, {server}, {address}, "{port}"]
    readinessProbe:
      httpGet: {{path: /, port: {port}}}
      periodSeconds: 1
      timeoutSeconds: 10
"""


def test_a_pod_is_not_ready_by_its_neighbours_answer(start: Start, tmp_path: Path) -> None:
    server, manifests, port = tmp_path / "server.py", tmp_path / "pods", free_port()
    server.write_text(SERVER)
    manifests.mkdir()
    (manifests / "greedy.yaml").write_text(pod("greedy", server, "0.0.0.0", port))
    run = start(str(manifests))
    run.line("listening")
    wait_for(lambda: run.status().get("greedy", {}).get("ready"), "the pod on 0.0.0.0 to be ready")
    (manifests / "web.yaml").write_text(pod("web", server, "$(POD_IP)", port))
    web = wait_for(
        lambda: (found := run.status().get("web")) and found["foreign_listeners"] and found,
        "the other pod's probe to be answered by its neighbour",
    )
    assert not web["ready"]
    # The owner of the port is known before the attempt that asks for it has ended.
    last = wait_for(
        lambda: run.status()["web"]["containers"][0]["probes"]["readiness"]["last"], "the end of an attempt"
    )
    assert (last["outcome"], last["cause"]) == ("failure", "refused")
    owner = f"container app of pod default/greedy listens on 0.0.0.0:{port}"
    assert f"connect: connection refused ({owner})" in last["message"]
    (found,) = web["foreign_listeners"]
    assert (found["port"], found["listener"], found["pod"]) == (port, f"0.0.0.0:{port}", "default/greedy")
    assert f"port {port}: pod default/greedy answers here, on 0.0.0.0:{port}" in run.verb("status").stdout
    assert "PortConflict" in run.verb("events").stdout
    assert run.line("another program answers a probe")["pod"] == "default/web"

    (manifests / "greedy.yaml").write_text(pod("greedy", server, "$(POD_IP)", port))
    wait_for(lambda: all(pod["ready"] for pod in run.status().values()), "both pods to be ready, each by itself")
    assert not any(pod["foreign_listeners"] for pod in run.status().values())
    # While the neighbour ends, its port may belong to a process that is no longer in a container.
    told = [line["by"] for line in run.log_lines if line["message"] == "another program answers a probe"]
    assert len([by for by in told if "default/greedy" in by]) == 1


def test_in_namespaces_every_pod_has_every_port(start: Start, tmp_path: Path) -> None:
    need_namespaces()
    server, manifests, port = tmp_path / "server.py", tmp_path / "pods", free_port()
    server.write_text(SERVER)
    manifests.mkdir()
    for name in ("one", "two"):
        (manifests / f"{name}.yaml").write_text(pod(name, server, "0.0.0.0", port))
    run = start(str(manifests), "--isolate", "namespace")
    run.line("listening")
    pods = wait_for(
        lambda: (found := run.status()) and all(pod["ready"] for pod in found.values()) and found, "both to be ready"
    )
    assert len({pod["ip"] for pod in pods.values()}) == 2
    assert not any(pod["ip"].startswith("127.") or pod["foreign_listeners"] for pod in pods.values())
    run.signal(signal.SIGTERM)
    assert run.ended() == 0


def test_namespaces_are_for_the_embedded_runtime(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(pod("web", tmp_path, "0.0.0.0", 80))
    ended = probelet("run", str(tmp_path), "--isolate", "namespace", "--runtime", "unix:///nowhere")
    assert ended.returncode == 2
    assert "--isolate namespace: only for --runtime process" in ended.stderr
