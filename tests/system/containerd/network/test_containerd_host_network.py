"""A pod on the host's network on a containerd: it has the host's interfaces, name and address."""

import socket

import pytest

from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

TOLD = 'echo "$(hostname) $HOST_IP $POD_IP"; head -n 1 /etc/hosts; tail -n 1 /etc/hosts; ls /sys/class/net'
ENV = [
    {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    for name, path in (("HOST_IP", "status.hostIP"), ("POD_IP", "status.podIP"))
]


def test_it_listens_on_the_host_and_its_probe_goes_there(node: ContainerdNode) -> None:
    node.run(
        "web",
        {
            "name": "app",
            "command": ["target", ":8080"],
            "ports": [{"name": "http", "containerPort": 8080}],
            "readinessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 1},
        },
        init=[{"name": "setup", "command": ["sh", "-c", TOLD], "env": ENV}],
        hostNetwork=True,
        hostAliases=[{"ip": "10.1.2.3", "hostnames": ["db"]}],
    )
    node.start()
    node.until(lambda: node.pod("web")["ready"], "a ready pod")
    # The machine of this test has no default route.
    assert node.pod("web")["ip"] == "127.0.0.1"
    name, head, last, *interfaces = node.log("web", "setup")
    assert name == f"{socket.gethostname()} 127.0.0.1 127.0.0.1"
    assert (head, last) == ("# Kubernetes-managed hosts file (host network).", "10.1.2.3\tdb")
    assert "lo" in interfaces
