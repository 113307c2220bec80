"""Probes from inside their pod (``network: pod``) on a real containerd: every handler, and a sandbox made anew."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.required import missing, need_namespaces
from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

ALLOWED = ("---", "apiVersion: probelet.dev/v1alpha1", "kind: ProbeletConfiguration", "probeOptions: true")
POLICY = ("iptables", "-A", "INPUT", "!", "-i", "lo", "-j", "DROP")
"""What a NetworkPolicy without any rule does."""
ATTEMPT_SECONDS = 5
"""What is under way when a sandbox goes may wait so long for an answer, and its next attempt for it."""
INSIDE = ("http", "ipv6", "grpc", "grpc-tls", "tcp")


@pytest.fixture(autouse=True)
def _parts() -> None:
    need_namespaces("iptables")
    if shutil.which("go") is None:
        missing("go", "the server that speaks TLS in the tests' image is a Go program")


def container(name: str, script: str, probe: dict[str, Any]) -> dict[str, Any]:
    readiness = {"timeoutSeconds": ATTEMPT_SECONDS, **probe, "periodSeconds": 1}
    return {"name": name, "command": ["sh", "-c", script], "readinessProbe": readiness}


def options(*containers: str) -> dict[str, str]:
    return {
        "probelet.dev/probe-options": json.dumps({name: {"readinessProbe": {"network": "pod"}} for name in containers})
    }


def namespace_of(pid: int) -> int:
    return Path(f"/proc/{pid}/ns/net").stat().st_ino


def opened(pid: int, namespace: int) -> int:
    """How many descriptors a process has of a namespace."""
    found = 0
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found += descriptor.stat().st_ino == namespace and "net" in str(descriptor.readlink())
        except OSError:
            continue
    return found


def test_every_handler_from_inside_a_pod_and_the_pods_next_sandbox(node: ContainerdNode) -> None:
    containers = [
        container("http", "exec target 127.0.0.1:7001", {"httpGet": {"port": 7001, "host": "localhost"}}),
        container(
            "ipv6",
            "target 127.0.0.1:8444 & exec tls_front 8443 8444 http/1.1",
            {"httpGet": {"port": 8443, "host": "::1", "scheme": "HTTPS"}},
        ),
        container("grpc", "exec health 6443", {"grpc": {"port": 6443}}),
        container("grpc-tls", "health 5444 & exec tls_front 5443 5444 h2", {"grpc": {"port": 5443, "mode": "TLS"}}),
        container("tcp", "exec target 127.0.0.1:7002", {"tcpSocket": {"port": 7002, "host": "127.0.0.1"}}),
        container("outside", "exec target 0.0.0.0:7003", {"httpGet": {"port": 7003}, "timeoutSeconds": 1}),
        # Its attempt is under way when the namespace goes.
        container(
            "stuck",
            "exec target 127.0.0.1:7004 hang",
            {"httpGet": {"port": 7004, "host": "localhost"}, "timeoutSeconds": 600},
        ),
    ]
    node.run("web", *containers, annotations=options(*INSIDE, "stuck"), terminationGracePeriodSeconds=1)
    on_host = container("app", "exec target 127.0.0.1:7005", {"httpGet": {"port": 7005, "host": "127.0.0.1"}})
    node.run("host", on_host, annotations=options("app"), hostNetwork=True)
    node.configure(*ALLOWED)
    node.start("--kubelet-version", "1.37", "--feature-gates", "GRPCContainerProbeTLS=true")

    def readiness(name: str) -> dict[str, Any]:
        found: dict[str, Any] = node.container("web", name)["probes"]["readiness"]
        return found

    def ready() -> set[str]:
        return {row["name"] for row in node.pod("web")["containers"] if row["ready"]}

    node.until(lambda: ready() == {*INSIDE, "outside"}, "every handler from inside, and one from the node")
    node.until(lambda: node.container("host")["ready"], "the pod on the host's network")
    assert readiness("grpc")["options"]["network"] == {"made_from": "pod", "why": None}
    found = node.container("host")["probes"]["readiness"]["options"]["network"]
    assert found == {"made_from": "node", "why": "the pod is on the node's network"}

    pid = node.containerd.pid_of(node.container("web", "http")["container_id"])
    first = namespace_of(pid)
    assert opened(node.pid, first) == 1, "one namespace for all containers of a pod"
    node.containerd.command("nsenter", f"--net=/proc/{pid}/ns/net", "--", *POLICY)
    node.until(lambda: ready() == set(INSIDE), "the policy to drop the node's packets alone")
    runs = {name: readiness(name)["runs"] for name in INSIDE}
    node.until(lambda: all(readiness(name)["runs"] >= runs[name] + 2 for name in INSIDE), "attempts behind the policy")
    assert ready() == set(INSIDE)

    (sandbox,) = (found for found in node.sandboxes() if found.metadata.name == "web")
    node.containerd.command("kill", "-9", str(node.containerd.pid_of(sandbox.id)))
    node.until(
        lambda: [it.id for it in node.sandboxes() if it.metadata.name == "web"] not in ([], [sandbox.id]),
        "its next sandbox",
    )
    node.until(lambda: ready() == {*INSIDE, "outside"}, "every handler from inside the next sandbox")
    second = namespace_of(node.containerd.pid_of(node.container("web", "http")["container_id"]))
    assert second != first
    node.until(lambda: opened(node.pid, first) == 0, "the first namespace to be closed")
    assert opened(node.pid, second) == 1
    node.remove("web")
    node.until(lambda: opened(node.pid, second) == 0, "the second namespace to be closed with its pod")
    # The end of the test removes what is left, and nobody else may do so meanwhile.
    node.until(lambda: "web" not in {it.metadata.name for it in node.sandboxes_of_all()}, "the pod's end")
