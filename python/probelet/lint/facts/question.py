"""When two probes ask the same question."""

from probelet.lint.command.shell import simple_command
from probelet.lint.model.workload import LintProbe


def question(probe: LintProbe) -> tuple[object, ...]:
    """A value that is equal for probes that ask the same: names of ports are resolved, headers sorted, and a command
    is taken out of its shell."""
    spec, port = probe.spec, probe.port_number or probe.port
    match probe.handler:
        case "httpGet" if (get := spec.http_get) is not None:
            headers = tuple(sorted((header.name.lower(), header.value) for header in get.http_headers))
            return ("httpGet", get.scheme, get.host, port, get.path, headers)
        case "tcpSocket":
            return ("tcpSocket", probe.host, port)
        case "grpc" if spec.grpc is not None:
            return ("grpc", port, spec.grpc.service or "")
        case _:
            return ("exec", *(simple_command(probe.argv) or (spec.exec.command if spec.exec is not None else ())))
