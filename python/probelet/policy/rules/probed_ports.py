"""Which ports of its pod's address the probes of a container ask."""

from probelet.spec.model.container import Container
from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.probe import Probe

PORT_MAX = 65_535


def probed_ports(container: Container, pod_ip: str) -> set[int]:
    """The ports. A probe with a ``host`` of its own asks another address, unless that is the pod's; a port that is no
    port has no answer either."""
    found = (_port(probe, container, pod_ip) for probe in container.probes.values())
    return {port for port in found if 0 < port <= PORT_MAX}


def _port(probe: Probe, container: Container, pod_ip: str) -> int:
    """The port of a probe; 0 if it asks none of the pod's address."""
    if probe.grpc is not None:
        return probe.grpc.port
    target = probe.http_get or probe.tcp_socket
    if target is None or target.host not in ("", pod_ip):
        return 0
    return _number(target.port, container)


def _number(port: IntOrString, container: Container) -> int:
    """A port by its number or its name in the container (kubelet pkg/probe/util.go:ResolveContainerPort, 1.36)."""
    port = container.numbered(port)
    if isinstance(port, int):
        return port
    return int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else 0
