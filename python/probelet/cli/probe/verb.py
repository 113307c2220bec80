"""``probelet probe``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from probelet.cli.exit import CliError
from probelet.cli.options import KubeletVersion, Output, StateDir
from probelet.cli.probe.flags import (
    ContainerId,
    ContainerName,
    ContainerPort,
    From,
    Host,
    NumericPort,
    PodIp,
    PodName,
    Port,
    Runtime,
    Spec,
    StandIn,
    Timeout,
    Tries,
    Type,
)
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.cli.probe.target import Target
    from probelet.spec.model.probe import Probe

app = verb(
    "probe",
    "The engine that probes pods makes this probe too, with the kubelet's rules and\n"
    "messages. Exit codes: 0 success or warning; 1 failure; 3 prober error, which\n"
    "says nothing about the program.",
    "probelet probe http --port 8080 --path /healthz",
    "probelet probe tcp --port 5432 --pod-ip 10.0.0.7 --timeout 3",
    "probelet probe grpc --port 9000 --service shop.v1.Cart -o json",
    "probelet probe exec -- sh -c 'test -e /tmp/healthy'",
    "probelet probe --from examples/web/pod.yaml --type readiness",
    "probelet probe --from deployment.yaml --type liveness --stand-in",
    'probelet probe --spec \'{"tcpSocket": {"port": 80}, "timeoutSeconds": 1}\'',
)

app.group_commands = Group("Handlers")


@app.default
def probe(
    *,
    from_: From = None,
    pod: PodName = None,
    container: ContainerName = None,
    type_: Type = None,
    stand_in: StandIn = False,
    spec: Spec = None,
    pod_ip: PodIp = None,
    container_port: ContainerPort = None,
    runtime: Runtime = None,
    container_id: ContainerId = None,
    tries: Tries = 1,
    kubelet_version: KubeletVersion = "1.36",
    output: Output = "table",
    state_dir: StateDir = None,
) -> int:
    from probelet.cli.probe.target import ProbeName, from_manifest, from_spec

    if (from_ is None) == (spec is None):
        raise CliError("give one of http, tcp, grpc, exec, --from and --spec", hint="probelet probe --help")
    if from_ is None and (pod or container or type_ or stand_in):
        raise CliError("--pod, --container, --type and --stand-in need --from")
    if stand_in and (pod_ip or runtime or container_id):
        raise CliError("--stand-in has an address of its own: no --pod-ip, --runtime or --container-id beside it")
    if from_ is not None and container_port:
        raise CliError("--container-port does not go with --from: the container has its own")
    if spec is not None:
        target = from_spec(spec, pod_ip, container_port or ())
    else:
        assert from_ is not None
        target = from_manifest(ProbeName(from_, pod, container, type_), pod_ip, state_dir)
    if stand_in:
        return _ask_stand_in(target, tries, output, kubelet_version)
    return _ask(target, tries, output, kubelet_version, runtime, container_id)


@app.command
def http(
    *,
    port: Port,
    path: Annotated[str, Parameter(metavar="PATH", help="Path, with its query.")] = "/",
    host: Host = "",
    scheme: Annotated[str, Parameter(metavar="SCHEME", help="HTTP or HTTPS.")] = "HTTP",
    header: Annotated[list[str] | None, Parameter(metavar="N:V", help="Header to send; repeatable.")] = None,
    timeout: Timeout = 1,
    pod_ip: PodIp = None,
    container_port: ContainerPort = None,
    tries: Tries = 1,
    kubelet_version: KubeletVersion = "1.36",
    output: Output = "table",
) -> int:
    """Send a GET request (httpGet): 200 to 399 is a success."""
    from probelet.cli.probe.target import headers
    from probelet.spec.model.int_or_string import parse_int_or_string
    from probelet.spec.model.probe import HTTPGetAction, Probe

    action = HTTPGetAction(
        path=path, port=parse_int_or_string(port), host=host, scheme=scheme, http_headers=headers(header or ())
    )
    return _from_flags(
        Probe(http_get=action, timeout_seconds=timeout), pod_ip, container_port, tries, output, kubelet_version
    )


@app.command
def tcp(
    *,
    port: Port,
    host: Host = "",
    timeout: Timeout = 1,
    pod_ip: PodIp = None,
    container_port: ContainerPort = None,
    tries: Tries = 1,
    kubelet_version: KubeletVersion = "1.36",
    output: Output = "table",
) -> int:
    """Open a connection and close it (tcpSocket)."""
    from probelet.spec.model.int_or_string import parse_int_or_string
    from probelet.spec.model.probe import Probe, TCPSocketAction

    action = TCPSocketAction(port=parse_int_or_string(port), host=host)
    return _from_flags(
        Probe(tcp_socket=action, timeout_seconds=timeout), pod_ip, container_port, tries, output, kubelet_version
    )


@app.command
def grpc(
    *,
    port: NumericPort,
    service: Annotated[
        str, Parameter(metavar="NAME", show_default=False, help="Service name. Default: empty, for the whole server.")
    ] = "",
    timeout: Timeout = 1,
    pod_ip: PodIp = None,
    tries: Tries = 1,
    kubelet_version: KubeletVersion = "1.36",
    output: Output = "table",
) -> int:
    """Call grpc.health.v1.Health/Check (grpc): SERVING is a success."""
    from probelet.spec.model.probe import GRPCAction, Probe

    action = GRPCAction(port=port, service=service)
    return _from_flags(Probe(grpc=action, timeout_seconds=timeout), pod_ip, None, tries, output, kubelet_version)


@app.command(name="exec")
def exec_(
    *command: Annotated[
        str, Parameter(name="COMMAND", required=True, allow_leading_hyphen=True, help="Command, after --.")
    ],
    timeout: Timeout = 1,
    runtime: Runtime = None,
    container_id: ContainerId = None,
    tries: Tries = 1,
    output: Output = "table",
) -> int:
    """Run a command (exec) on this machine or in a container: exit code 0 is a success."""
    from probelet.cli.probe.target import from_flags
    from probelet.spec.model.probe import ExecAction, Probe

    target = from_flags(Probe(exec=ExecAction(command=list(command)), timeout_seconds=timeout), None, ())
    return _ask(target, tries, output, runtime=runtime, container_id=container_id)


def _from_flags(
    probe: "Probe",
    pod_ip: str | None,
    container_port: Sequence[str] | None,
    tries: int,
    output: str,
    kubelet_version: str,
) -> int:
    from probelet.cli.probe.target import from_flags

    return _ask(from_flags(probe, pod_ip, container_port or ()), tries, output, kubelet_version)


def _ask_stand_in(target: "Target", tries: int, output: str, kubelet_version: str) -> int:
    from probelet.cli.probe.attempt import exit_code
    from probelet.cli.probe.report import show
    from probelet.cli.probe.stand_in import ask_stand_in

    seen, asked = ask_stand_in(target, tries, kubelet_version)
    show(seen, asked, output)
    return exit_code(seen)


def _ask(
    target: "Target",
    tries: int,
    output: str,
    kubelet_version: str = "1.36",
    runtime: str | None = None,
    container_id: str | None = None,
) -> int:
    from probelet.cli.probe.attempt import ask, exit_code
    from probelet.cli.probe.report import show

    seen = ask(target, tries, kubelet_version, runtime, container_id)
    show(seen, target, output)
    return exit_code(seen)
