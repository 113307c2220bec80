"""What ``probelet probe`` is to probe: from flags, from a manifest, or from a v1.Probe taken as it is."""

import ipaddress
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probelet.cli.exit import CliError
from probelet.server.client import Client
from probelet.server.error import NotRunningError
from probelet.server.state_dir import default_state_dir
from probelet.spec.model.container import Container
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import HTTPHeader, Probe, ProbeType
from probelet.spec.read.decode import decode
from probelet.spec.read.load import load
from probelet.spec.read.tree import TreeError, documents
from probelet.spec.rules.defaults import set_probe_defaults
from probelet.spec.rules.validate_probe import validate_probe
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import Problem

# Where a probe goes when nobody says where the pod is.
LOCAL = "127.0.0.1"

# Field of the probe -> the flag it came from.
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

# For a probe that comes from nowhere.
NO_POD = Pod(
    metadata=ObjectMeta(name="probe", namespace="default", uid="probe"),
    spec=PodSpec(containers=[Container(name="probe")]),
)

Ports = list[tuple[str, int]]


@dataclass(frozen=True)
class Target:
    """One probe, and what the prober would know when it runs it. ``pod`` and ``container`` are those of a manifest."""

    probe: Probe
    pod_ip: str
    ports: Ports
    title: str = ""
    pod: Pod = NO_POD
    container: Container = NO_POD.spec.containers[0]


def from_flags(probe: Probe, pod_ip: str | None, container_ports: Sequence[str]) -> Target:
    """A probe whose fields were given one by one: defaulted and validated like one of a manifest."""
    defaulted = set_probe_defaults(probe)
    assert defaulted is not None
    # Readiness has no rule of its own about what flags can say.
    if errors := validate_probe(defaulted, "readiness", ""):
        raise CliError(*(f"{_flag(error.path)}: {error.shortened().body}" for error in errors))
    ports = _named_ports(container_ports)
    action = defaulted.http_get or defaulted.tcp_socket
    if action is not None and isinstance(action.port, str) and all(name != action.port for name, _ in ports):
        # As for a manifest, this is no reason not to ask the prober.
        _warn([f"--port: warning: {go_quote(action.port)} is no --container-port, so the run is an error"])
    return Target(defaulted, _address(pod_ip), ports)


def _flag(path: str) -> str:
    field = path.removeprefix(".")
    return FLAGS.get(field, field)


def headers(texts: Sequence[str]) -> list[HTTPHeader]:
    """``NAME:VALUE``, with or without a blank behind the colon."""
    found = []
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon:
            raise CliError(f"--header: Invalid value: {go_quote(text)}: must be NAME:VALUE")
        found.append(HTTPHeader(name=name, value=value.removeprefix(" ")))
    return found


def from_spec(text: str, pod_ip: str | None, container_ports: Sequence[str]) -> Target:
    """A v1.Probe as JSON or YAML, neither defaulted nor validated; what is unknown in it is a warning."""
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
class Place:
    """Which probe of a manifest is meant. What has no choice need not be said."""

    path: Path
    pod: str | None = None
    container: str | None = None
    type: ProbeType | None = None


def from_manifest(place: Place, pod_ip: str | None, state_dir: Path | None) -> Target:
    """A probe as a pod has it. Without ``pod_ip`` it goes to the running pod of that name, if probelet runs one."""
    loaded = load([place.path])
    if loaded.errors:
        raise CliError(*map(str, loaded.problems))
    _warn(map(str, loaded.problems))
    pods = {found.pod.full_name: found.pod for found in loaded.pods}
    wanted = place.pod if place.pod is None or "/" in place.pod else f"default/{place.pod}"
    pod = pods[_choice("--pod", wanted, list(pods), f"pods of {place.path}")]
    containers = {container.name: container for _, container in pod.spec.each_container() if container.probes}
    named = f"containers of {pod.full_name} with a probe"
    container = containers[_choice("--container", place.container, list(containers), named)]
    probes: dict[str, Probe] = {str(probe_type): probe for probe_type, probe in container.probes.items()}
    probe_type = _choice("--type", place.type, list(probes), f"probes of container {container.name}")
    return Target(
        probe=probes[probe_type],
        pod_ip=_address(pod_ip or _running_ip(pod, state_dir)),
        ports=[(port.name, port.container_port) for port in container.ports if port.name],
        title=f"{probe_type} probe of {pod.full_name}/{container.name}",
        pod=pod,
        container=container,
    )


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"probelet probe: {line}", file=sys.stderr)


def _choice(flag: str, wanted: str | None, choices: list[str], among: str) -> str:
    """The one that is wanted, or the only one there is."""
    listed = f"{among}: {', '.join(choices) or 'none'}"
    if wanted is None:
        if len(choices) == 1:
            return choices[0]
        raise CliError(f"{flag}: Required value: {listed}")
    if wanted not in choices:
        raise CliError(f"{flag}: Not found: {go_quote(wanted)}: {listed}")
    return wanted


def _running_ip(pod: Pod, state_dir: Path | None) -> str | None:
    """The address of the pod in the service that runs here, if it does."""
    try:
        running = Client(state_dir or default_state_dir()).status()["pods"]
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
    """``web=8080``, as it would stand in the container's ports."""
    ports = []
    for text in container_ports:
        name, _, number = text.partition("=")
        if not name or not number.isascii() or not number.isdecimal() or not 1 <= int(number[:6]) <= 65535:
            raise CliError(f"--container-port: Invalid value: {go_quote(text)}: must be NAME=NUMBER, 1 to 65535")
        ports.append((name, int(number)))
    return ports
