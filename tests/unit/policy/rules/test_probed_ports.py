"""Which ports of its pod's address the probes of a container ask."""

from typing import Any

import msgspec
import pytest
from probelet.policy.rules.probed_ports import probed_ports
from probelet.spec.model.container import Container

POD = "127.64.9.9"


@pytest.mark.parametrize(
    ("probe", "ports"),
    [
        ({"httpGet": {"port": 80}}, {80}),
        ({"httpGet": {"port": "web", "host": POD}}, {8080}),
        ({"httpGet": {"port": 80, "host": "127.0.0.1"}}, set()),
        ({"tcpSocket": {"port": "81"}}, {81}),
        ({"tcpSocket": {"port": "none"}}, set()),
        ({"grpc": {"port": 9090}}, {9090}),
        ({"grpc": {"port": 65_535}}, {65_535}),
        ({"grpc": {"port": 65_536}}, set()),
        ({"grpc": {"port": 1}}, {1}),
        ({"exec": {"command": ["true"]}}, set()),
    ],
)
def test_ports_of_a_probe(probe: dict[str, Any], ports: set[int]) -> None:
    body = {"name": "app", "ports": [{"name": "web", "containerPort": 8080}], "readinessProbe": probe}
    assert probed_ports(msgspec.convert(body, Container), POD) == ports
