"""``probelet run``."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import (
    AllowRemote,
    Duration,
    Isolate,
    Listen,
    ManifestPath,
    NamedPath,
    NodeName,
    RootDir,
    Runtime,
    StateDir,
)
from probelet.cli.serve.flags import CONFIG, LOG, MANIFESTS, ConfigFlags, LogFlags, ManifestFlags
from probelet.cli.serve.programs import Programs, UserName, read_user
from probelet.cli.serve.stand_in import STAND_IN, StandInFlags
from probelet.cli.verb import verb
from probelet.errors import ManifestError

if TYPE_CHECKING:
    from probelet.daemon.run import Ended, RunFlags
    from probelet.node.source.watch import Manifests
    from probelet.spec.read.load import Manifest

Serve = Annotated[
    NamedPath | None,
    Parameter(
        name="--serve", metavar="PATH", help="Socket to probe another node agent's pods too, like 'probelet serve'."
    ),
]

app = verb(
    "run",
    "PATH is a file with Pods, or Deployments, StatefulSets, DaemonSets, Jobs and\n"
    "other workloads with a pod template (YAML or JSON, several documents, a List);\n"
    "a directory of such files: *.yaml, *.yml and *.json, on a CRI runtime every\n"
    "file without a leading dot; or - for standard input, which is read once\n"
    "(helm template CHART | probelet run -). A template is one pod with the name of\n"
    "its workload. Objects of kinds without pods are passed over.\n\n"
    "Without --runtime a container is a program of this machine, with the pod's\n"
    "address in $POD_IP: it needs a command, and its image is ignored. With\n"
    "--stand-in no program of a manifest with images runs: a server in the place of\n"
    "each container answers its probes, so that any Deployment can be tried. If root\n"
    "starts it, --user runs these programs as another user.\n\n"
    "probelet watches files and directories: a new pod starts, a removed pod ends,\n"
    "and a pod whose new version has a mistake keeps its old one. A mistake costs\n"
    "its pod and not the others ('probelet status' names it); probelet refuses to\n"
    "start without a pod and without a directory that may get one. SIGTERM or\n"
    "Ctrl-C ends the pods within their grace periods and exits 0; a second signal\n"
    "kills at once and exits 128 + its number (130 for Ctrl-C). On a CRI runtime the\n"
    "pods stay when probelet ends, and the next start takes them over; --drain ends\n"
    "them. 'probelet logs POD' prints the log of a container, also after the end.",
    "probelet run examples/web",
    "probelet run /etc/kubernetes/manifests --listen 127.0.0.1:0",
    "probelet run pods/ --runtime unix:///run/containerd/containerd.sock",
    "probelet run pods/ --duration 60s --log-format json",
    "probelet run pods/ --serve /run/probelet/prober.sock",
    "probelet run deployment.yaml --stand-in",
)


@app.default
def run(
    *paths: ManifestPath,
    runtime: Runtime = "process",
    manifests: ManifestFlags = MANIFESTS,
    isolate: Isolate = "none",
    config: ConfigFlags = CONFIG,
    listen: Listen = "127.0.0.1:10290",
    allow_remote: AllowRemote = False,
    serve: Serve = None,
    stand_in: StandInFlags = STAND_IN,
    user: UserName = None,
    state_dir: StateDir = None,
    root_dir: RootDir = Path("/var/lib/probelet"),
    node_name: NodeName = None,
    duration: Duration = None,
    drain: Annotated[bool, Parameter(negative="", help="End the pods with probelet on a CRI runtime too.")] = False,
    log: LogFlags = LOG,
) -> int:
    import socket

    import probelet.daemon.libraries  # noqa: F401
    from probelet.cli.serve.start import begin
    from probelet.config.probe_options import allowed_options
    from probelet.daemon.run import PROCESS, RunFlags
    from probelet.node.source.watch import Manifests

    if runtime != PROCESS and isolate != "none":
        raise CliError(f"--isolate {isolate}: only for --runtime {PROCESS}; a CRI runtime isolates every pod")
    configuration, descriptors = begin(
        "run", config, log, endpoint=None if runtime == PROCESS else runtime, otherwise=f'; or "{PROCESS}"'
    )
    node = node_name or socket.gethostname()
    on_host = runtime == PROCESS
    run_as = read_user(user, on_host=on_host)
    programs = Programs(stand_in.read(on_host=on_host), run_as)
    source = Manifests(
        list(paths),
        configuration.gates,
        runtime="process" if runtime == PROCESS else "cri",
        deny_hosts=configuration.probelet.deny_host_probes,
        probe_options=allowed_options(configuration.probelet),
        probe_changes=configuration.probelet.probe_changes,
        replicas=manifests.replicas,
        node=node,
        change=programs.change,
    )
    first = _first(source, strict=manifests.strict, idle=serve is not None)
    flags = RunFlags(
        configuration=configuration,
        manifests=source,
        first=first,
        runtime=runtime,
        isolate=isolate,
        has_users=run_as is not None,
        node=node,
        seconds=duration,
        drain=drain or runtime == PROCESS,
        root=root_dir,
        serve=serve,
        descriptors=descriptors,
    )
    tell = partial(programs.announce, first, on_host=on_host)
    return _carried_out(flags, state_dir, listen, tell, allow_remote=allow_remote)


def _carried_out(
    flags: "RunFlags", state_dir: Path | None, listen: str, tell: Callable[[], None], *, allow_remote: bool
) -> int:
    """Runs the pods until the end; returns the exit code. ``tell`` is called once nothing refuses the start any more.

    Raises CliError if a socket or a directory cannot be used."""
    from contextlib import closing

    from probelet.base.files.unix_socket import SocketPathError, check_socket_path
    from probelet.daemon.run import carry_out
    from probelet.errors import DaemonError
    from probelet.server.address import listening_socket, parse_address
    from probelet.server.control.state_dir import default_state_dir, locked_state_dir
    from probelet.server.error import ServerError

    try:
        if flags.serve is not None:
            check_socket_path(flags.serve, f"--serve {flags.serve}")
        address = parse_address(listen)
        with (
            locked_state_dir(state_dir or default_state_dir()) as locked,
            closing(listening_socket(address, allow_remote=allow_remote)) as listening,
        ):
            tell()
            ended = carry_out(flags, locked, listening)
    except (ServerError, SocketPathError) as error:
        raise CliError(str(error)) from error
    except DaemonError as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    return _exit_code(ended)


def _first(manifests: "Manifests", *, strict: bool, idle: bool) -> "list[Manifest]":
    try:
        return manifests.first(strict=strict, idle=idle)
    except ManifestError as error:
        raise CliError(*str(error).splitlines()) from error


def _exit_code(ended: "Ended") -> int:
    if ended.pods_left:
        return Exit.CANNOT
    return 0 if ended.hurried_by is None else 128 + ended.hurried_by
