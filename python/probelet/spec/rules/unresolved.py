"""Port names that no port has: valid for the API server, but a prober error at every run (kubelet, 1.36)."""

from collections.abc import Iterator

from probelet.spec.model.container import Container
from probelet.spec.model.int_or_string import IntOrString, parse_int_or_string
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe
from probelet.spec.text.problem import FieldError


def unresolved_ports(pod: Pod) -> list[FieldError]:
    """One error for each probe port that can never resolve; only the probed container's own ports count."""
    errors = []
    for path, container in pod.spec.each_container():
        for probe_type, probe in container.probes.items():
            for name, port in _ports(probe):
                if isinstance(port, str) and not _resolves(port, container):
                    known = ", ".join(entry.name for entry in container.ports if entry.name) or "none"
                    detail = f"names no port of container {container.name}, so every run is an error (named: {known})"
                    errors.append(FieldError(f"{path}.{probe_type}Probe.{name}.port", "Invalid value", port, detail))
    return errors


def _ports(probe: Probe) -> Iterator[tuple[str, IntOrString]]:
    """The port of the handler that runs; validation refuses any further handler."""
    if probe.handler == "httpGet" and probe.http_get is not None:
        yield "httpGet", probe.http_get.port
    if probe.handler == "tcpSocket" and probe.tcp_socket is not None:
        yield "tcpSocket", probe.tcp_socket.port


def _resolves(name: str, container: Container) -> bool:
    number = parse_int_or_string(name)
    if isinstance(number, int):
        return 1 <= number <= 65535
    return any(port.name == name for port in container.ports)
