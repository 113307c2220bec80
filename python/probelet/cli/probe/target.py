"""The probe to run: from flags, from a manifest, or from a v1.Probe used as it is."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from probelet.cli.exit import CliError
from probelet.cli.terminal import complain
from probelet.server.control.client import Client
from probelet.server.control.state_dir import service_state_dir
from probelet.server.error import NotRunningError, UntrustedServiceError
from probelet.spec.model.container import Container
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import HTTPHeader, Probe, ProbeType
from probelet.spec.objects.config_object import Objects
from probelet.spec.read.decode import decode
from probelet.spec.read.load import load
from probelet.spec.read.tree import TreeError, documents
from probelet.spec.rules.defaults import set_probe_defaults
from probelet.spec.rules.validate_probe import validate_probe
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import Problem

# The address to probe if neither flag nor service gives one.
LOCAL = "127.0.0.1"

# Field of the probe -> the flag that sets it.
FLAGS = {
    "exec.command": "COMMAND",
    "grpc.port": "--port",
    "httpGet.httpHeaders": "--header",
    "httpGet.path": "--path",
    "httpGet.port": "--port",
    "httpGet.scheme": "--scheme",
    "tcpSocket.port": "--port",
    "timeoutSeconds": "--timeout",
}

# The names in a probe from flags or --spec.
NO_POD = Pod(
    metadata=ObjectMeta(name="probe", namespace="default", uid="probe"),
    spec=PodSpec(containers=[Container(name="probe")]),
)

Ports = list[tuple[str, int]]


@dataclass(frozen=True)
class Target:
    """One probe, and the facts that the prober has at its run. ``pod``, ``container``
    and ``objects``, the ConfigMaps and Secrets for its variables, come from a manifest."""

    probe: Probe
    pod_ip: str
    ports: Ports
    title: str = ""
    pod: Pod = NO_POD
    container: Container = NO_POD.spec.containers[0]
    objects: Objects = field(default_factory=dict)


def from_flags(probe: Probe, pod_ip: str | None, container_ports: Sequence[str]) -> Target:
    """A probe from flags, with defaults and validation like a manifest's."""
    defaulted = set_probe_defaults(probe)
    assert defaulted is not None
    # Validation needs a type; readiness has no rule beyond what flags can express.
    if errors := validate_probe(defaulted, "readiness", ""):
        raise CliError(*(f"{_flag(error.path)}: {error.shortened().body}" for error in errors))
    ports = _named_ports(container_ports)
    action = defaulted.http_get or defaulted.tcp_socket
    if action is not None and isinstance(action.port, str) and all(name != action.port for name, _ in ports):
        # Only a warning, as for a manifest: the prober still runs.
        _warn([f"--port: warning: {go_quote(action.port)} is not a --container-port, so the run is an error"])
    return Target(defaulted, _address(pod_ip), ports)


def _flag(path: str) -> str:
    field = path.removeprefix(".")
    return FLAGS.get(field, field)


def headers(texts: Sequence[str]) -> list[HTTPHeader]:
    """Parses ``NAME:VALUE``, with or without a blank after the colon."""
    found = []
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon:
            raise CliError(f"--header: Invalid value: {go_quote(text)}: must be NAME:VALUE")
        found.append(HTTPHeader(name=name, value=value.removeprefix(" ")))
    return found


def from_spec(text: str, pod_ip: str | None, container_ports: Sequence[str]) -> Target:
    """A v1.Probe as JSON or YAML, without defaults and validation; an unknown field is a warning."""
    problems: list[Problem] = []
    try:
        found = [decode(document, Probe, None, problems) for document in documents(text)]
    except TreeError as error:
        raise CliError(f"--spec: {error}") from None
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise CliError(*(f"--spec: {error}" for error in errors))
    if len(found) != 1:
        raise CliError("--spec: want one v1.Probe, as JSON")
    _warn([f"--spec: {problem}" for problem in problems])
    return Target(found[0], _address(pod_ip), _named_ports(container_ports))


@dataclass(frozen=True)
class ProbeName:
    """Names one probe of a manifest. A part with only one choice may be None."""

    path: Path
    pod: str | None = None
    container: str | None = None
    type: ProbeType | None = None


def from_manifest(name: ProbeName, pod_ip: str | None, state_dir: Path | None) -> Target:
    """The probe of a pod in a manifest. Without ``pod_ip`` it goes to that pod's address, if probelet runs it."""
    loaded = load([name.path])
    if loaded.errors:
        raise CliError(*map(str, loaded.problems))
    _warn(map(str, loaded.problems))
    pods = {found.pod.full_name: found.pod for found in loaded.pods}
    wanted = name.pod if name.pod is None or "/" in name.pod else f"default/{name.pod}"
    pod = pods[_choice("--pod", wanted, list(pods), f"pods of {name.path}")]
    containers = {container.name: container for _, container in pod.spec.each_container() if container.probes}
    named = f"containers of {pod.full_name} with a probe"
    choices = list(containers)
    if name.container is None and name.type is not None:
        # A type that only one container has needs no name of the container.
        of_type = [each for each, container in containers.items() if name.type in container.probes]
        if of_type:
            named, choices = f"containers of {pod.full_name} with a {name.type} probe", of_type
    container = containers[_choice("--container", name.container, choices, named)]
    probes: dict[str, Probe] = {str(probe_type): probe for probe_type, probe in container.probes.items()}
    probe_type = _choice("--type", name.type, list(probes), f"probes of container {container.name}")
    return Target(
        probe=probes[probe_type],
        pod_ip=_address(pod_ip or _running_ip(pod, state_dir)),
        ports=[(port.name, port.container_port) for port in container.ports if port.name],
        title=f"{probe_type} probe of {pod.full_name}/{container.name}",
        pod=pod,
        container=container,
        objects={found.key: found for found in loaded.config_objects},
    )


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        complain(f"probelet probe: {line}")


def _choice(flag: str, wanted: str | None, choices: list[str], among: str) -> str:
    """The wanted choice, or the only one."""
    listed = f"{among}: {', '.join(choices) or 'none'}"
    if wanted is None:
        if len(choices) == 1:
            return choices[0]
        raise CliError(f"{flag}: Required value: {listed}")
    if wanted not in choices:
        raise CliError(f"{flag}: Not found: {go_quote(wanted)}: {listed}")
    return wanted


def _running_ip(pod: Pod, state_dir: Path | None) -> str | None:
    """The pod's address in the service that runs here; None if no service or no such pod runs."""
    try:
        running = Client(state_dir or service_state_dir()).status()["pods"]
    except UntrustedServiceError as error:
        _warn([f"warning: {error}"])
        return None
    except NotRunningError:
        return None
    names = (pod.metadata.namespace, pod.metadata.name)
    return next((found["ip"] for found in running if (found["namespace"], found["name"]) == names), None)


def _address(pod_ip: str | None) -> str:
    if not pod_ip:
        return LOCAL
    try:
        return str(ipaddress.ip_address(pod_ip))
    except ValueError:
        raise CliError(f"--pod-ip: Invalid value: {go_quote(pod_ip)}: must be an IP address") from None


def _named_ports(container_ports: Sequence[str]) -> Ports:
    """Parses ``web=8080`` into an entry of the container's ports."""
    ports = []
    for text in container_ports:
        name, _, number = text.partition("=")
        if not name or not number.isascii() or not number.isdecimal() or not 1 <= int(number[:6]) <= 65535:
            raise CliError(f"--container-port: Invalid value: {go_quote(text)}: must be NAME=NUMBER, 1 to 65535")
        ports.append((name, int(number)))
    return ports
