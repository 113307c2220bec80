"""``probelet agent``."""

import os
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from cyclopts import Parameter

from probelet.cli.cluster.options import CoexistKruise, Context, Kubeconfig, Namespace
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, Listen, NamedPath
from probelet.cli.serve.flags import CONFIG, LOG, ConfigFlags, LogFlags
from probelet.cli.verb import verb

NodeOfKubelet = Annotated[
    str | None,
    Parameter(
        name="--node", metavar="NAME", help="The kubelet's node name. Default: $NODE_NAME, then this host's name."
    ),
]
NodeAddress = Annotated[
    str | None,
    Parameter(
        name="--node-ip",
        metavar="ADDR",
        help="Address of pods on the host's network. Default: $NODE_IP, then that of the default route.",
    ),
]
KubeletsRuntime = Annotated[str, Parameter(metavar="RUNTIME", help="The kubelet's CRI socket, unix:///...")]
AgentStateDir = Annotated[
    NamedPath,
    Parameter(
        name="--state-dir",
        metavar="DIR",
        help="Directory on the host: pods as first seen, kills under way, journal, control socket.",
    ),
]
CertFile = Annotated[
    NamedPath | None,
    Parameter(
        name="--cert-file",
        metavar="FILE",
        help="Certificate of --listen-health (PEM), reloaded. Default: one of its own.",
    ),
]
KeyFile = Annotated[NamedPath | None, Parameter(name="--key-file", metavar="FILE", help="Its key (PEM).")]
NodeExecutor = Annotated[
    Literal["own", "external"],
    Parameter(
        name="--node-executor",
        help="What carries out ContainerRecreateRequests on this node: the agent, or OpenKruise's daemon.",
    ),
]
NodeProber = Annotated[
    Literal["own", "external"],
    Parameter(
        name="--node-prober",
        help="Which program makes the probes of this node's NodePodProbe (enhanced "
        "liveness): this one, or with external OpenKruise's kruise-daemon.",
    ),
]

Supervise = Annotated[
    bool,
    Parameter(
        name="--supervise",
        show_default=False,
        help="Run as the small parent of an agent, and start it again at once when it has "
        "died: for a container, whose kubelet would wait longer each time.",
    ),
]

REMOTELY = "serve health and metrics alone, over TLS, with --listen-health"

app = verb(
    "agent",
    "Runs beside a kubelet, one on each node, and makes the probes of pods that the\n"
    "webhook took over ('probelet webhook', label probelet.dev/managed). Readiness\n"
    "opens the readiness gate probelet.dev/ready; a container whose liveness or\n"
    "startup probe failed is stopped within its grace, and the kubelet restarts it.\n\n"
    "It also stops containers for ContainerRecreateRequests ('probelet controller').\n"
    "The agent stops nothing else, and creates and removes nothing. When it ends,\n"
    "pods and conditions stay as they are, and the next agent goes on: with the\n"
    "counters of the probes (restore: full is its default) and with kills that were\n"
    "under way. While the API server is away, probing and killing go on.\n\n"
    "Where the cluster serves NodePodProbes, the agent also makes the probes of this\n"
    "node's one and reports into its status (enhanced liveness). It stops nothing for\n"
    "them: 'probelet controller' decides.",
    "probelet agent --node worker-1",
    "probelet agent --kubeconfig probelet.conf --listen 127.0.0.1:10291",
    "probelet agent --config /etc/probelet/config.yaml --log-format json",
    "probelet agent --supervise",
)


@app.default
def agent(
    *,
    node: NodeOfKubelet = None,
    node_ip: NodeAddress = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    namespace: Namespace = "probelet-system",
    runtime: KubeletsRuntime = "unix:///run/containerd/containerd.sock",
    config: ConfigFlags = CONFIG,
    listen: Listen = "127.0.0.1:10291",
    listen_health: Annotated[
        str | None,
        Parameter(metavar="ADDR", help="HOST:PORT of health and metrics over TLS, for other machines."),
    ] = None,
    cert_file: CertFile = None,
    key_file: KeyFile = None,
    node_prober: NodeProber = "own",
    state_dir: AgentStateDir = Path("/var/lib/probelet-agent"),
    node_executor: NodeExecutor = "own",
    coexist_kruise: CoexistKruise = False,
    duration: Duration = None,
    supervise: Supervise = False,
    log: LogFlags = LOG,
) -> int:
    if supervise:
        _become_supervisor(log.log_format)
    import socket
    from contextlib import ExitStack, closing

    import probelet.daemon.libraries  # noqa: F401
    from probelet.cli.serve.start import begin
    from probelet.daemon.cluster.agent import AgentFlags, Health, carry_out
    from probelet.errors import DaemonError
    from probelet.server.address import listening_socket, parse_address
    from probelet.server.control.state_dir import locked_state_dir
    from probelet.server.error import ServerError

    files = _certificate(listen_health, cert_file, key_file)
    configuration, descriptors = begin("agent", config, log, endpoint=runtime)
    flags = AgentFlags(
        configuration=configuration,
        runtime=runtime,
        node=node or os.environ.get("NODE_NAME") or socket.gethostname(),
        node_ip=_address(node_ip or os.environ.get("NODE_IP")),
        namespace=namespace,
        kubeconfig=kubeconfig,
        context=context,
        seconds=duration,
        descriptors=descriptors,
        node_executor=node_executor,
        node_prober=node_prober,
        coexist=coexist_kruise,
    )
    try:
        address = parse_address(listen)
        with ExitStack() as stack:
            locked = stack.enter_context(locked_state_dir(state_dir, on_wait=_log_wait))
            listening = stack.enter_context(closing(listening_socket(address, otherwise=REMOTELY)))
            health = None
            if listen_health is not None:
                # A caller of this address sees no command and no output of a probe.
                flag = "--listen-health"
                sock = listening_socket(parse_address(listen_health, flag=flag), allow_remote=True, flag=flag)
                health = Health(stack.enter_context(closing(sock)), files)
            carry_out(flags, locked, listening, health)
    except ServerError as error:
        raise CliError(str(error)) from error
    except DaemonError as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    return Exit.GOOD


def _become_supervisor(log_format: str) -> NoReturn:
    """Replaces this process by the parent of an agent with the same command line, but for ``--supervise``."""
    import sys

    from probelet.daemon import supervise

    words = [word for word in sys.orig_argv[1:] if word.partition("=")[0] != "--supervise"]
    command = [sys.executable, "-I", "-S", supervise.__file__, log_format, sys.executable, *words]
    os.execv(sys.executable, command)


def _log_wait(holder: str) -> None:
    import structlog

    structlog.get_logger("probelet.agent").warning(
        "waiting for the state directory: two agents of a node exclude each other", holder=holder
    )


def _certificate(listen_health: str | None, chain: Path | None, key: Path | None) -> tuple[Path, Path] | None:
    """The certificate's files, or None. Raises CliError for one file alone, or without ``--listen-health``."""
    if chain is None and key is None:
        return None
    if listen_health is None or chain is None or key is None:
        raise CliError(
            "--cert-file and --key-file belong together, and to --listen-health: health and metrics over TLS"
        )
    return chain, key


def _address(text: str | None) -> str | None:
    """The address, or None. Raises CliError for a text that is none."""
    import ipaddress

    if not text:
        return None
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise CliError(f'--node-ip: "{text}" is no IP address; want for example 10.0.0.5 or fd00::5') from None
