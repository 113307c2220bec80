"""``probelet webhook``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from probelet.cli.cluster.options import CoexistKruise, Context, Kubeconfig, Namespace
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, NamedPath
from probelet.cli.serve.flags import LOG, LogFlags
from probelet.cli.verb import verb

ListenHealth = Annotated[
    str | None,
    Parameter(
        name="--listen-health",
        metavar="ADDR",
        help="HOST:PORT of /healthz, /readyz and /metrics, over TLS. Default: none.",
    ),
]

Fallback = Annotated[
    str,
    Parameter(
        metavar="DURATION",
        help="Leave liveness probes to the kubelet too, with a failureThreshold of this time, "
        "for pods without the annotation probelet.dev/fallback.",
    ),
]

app = verb(
    "webhook",
    "An API server calls it for each new pod with the label\n"
    "probelet.dev/managed=true. It moves the pod's probes to an annotation, from\n"
    "which 'probelet agent' runs them, and leaves every probe that only a kubelet\n"
    "can run. Of a pod that asks for enhanced liveness it moves the liveness probes,\n"
    "and refuses one whose probes are wrong. It checks ContainerRecreateRequests and\n"
    "fills them from their pod. SIGTERM ends it after five seconds, in which it\n"
    "still answers.",
    "probelet webhook --cert-file /tls/tls.crt --key-file /tls/tls.key",
    "probelet webhook --self-signed --configuration zz-probelet",
    "probelet webhook --self-signed --host 127.0.0.1 --kubeconfig ~/.kube/config",
)


@app.default
def webhook(
    *,
    listen: Annotated[
        str, Parameter(metavar="ADDR", help="HOST:PORT of the webhook, over TLS; port 0: any free port.")
    ] = "0.0.0.0:9443",
    cert_file: Annotated[
        NamedPath | None,
        Parameter(name="--cert-file", metavar="FILE", help="Certificate (PEM), read again when it changes."),
    ] = None,
    key_file: Annotated[NamedPath | None, Parameter(name="--key-file", metavar="FILE", help="Its key (PEM).")] = None,
    self_signed: Annotated[
        bool,
        Parameter(negative="", help="Make an authority and a certificate, in the Secret probelet-webhook-certificate."),
    ] = False,
    service: Annotated[
        str, Parameter(metavar="NAME", help="Service by which API servers call, a name in the certificate.")
    ] = "probelet-webhook",
    host: Annotated[
        tuple[str, ...],
        Parameter(metavar="NAME", help="Another name or address for the certificate; may be repeated."),
    ] = (),
    configuration: Annotated[
        str | None,
        Parameter(metavar="NAME", help="MutatingWebhookConfiguration whose caBundle is kept right."),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    namespace: Namespace = "probelet-system",
    coexist_kruise: CoexistKruise = False,
    fallback: Fallback = "none",
    listen_health: ListenHealth = None,
    duration: Duration = None,
    log: LogFlags = LOG,
) -> int:
    from contextlib import ExitStack, closing

    import probelet.daemon.libraries  # noqa: F401
    from probelet.base import open_files
    from probelet.daemon.cluster.webhook import Files, OwnAuthority, WebhookFlags, carry_out
    from probelet.errors import DaemonError
    from probelet.kube.error import KubeConfigError
    from probelet.server.address import listening_socket, parse_address
    from probelet.server.error import ServerError

    files = _files(cert_file, key_file, self_signed=self_signed)
    if files is not None and (configuration is not None or host):
        raise CliError("--configuration and --host are for --self-signed: the certificate's owner knows the others")
    fallback_ns = _nanoseconds(fallback)
    certificate = Files(*files) if files else OwnAuthority(service, host, configuration)
    log.set_up()
    open_files.raise_limit()
    try:
        with ExitStack() as stack:
            # An API server is another machine, and so is a kubelet's probe to the address of a pod.
            listening = stack.enter_context(closing(listening_socket(parse_address(listen), allow_remote=True)))
            pages = None
            if listen_health is not None:
                address = parse_address(listen_health, flag="--listen-health")
                pages = stack.enter_context(
                    closing(listening_socket(address, allow_remote=True, flag="--listen-health"))
                )
            given = certificate, kubeconfig, context, namespace, listening, pages, duration
            carry_out(WebhookFlags(*given, coexist=coexist_kruise, fallback_ns=fallback_ns))
    except ServerError as error:
        raise CliError(str(error)) from error
    except (DaemonError, KubeConfigError) as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    return Exit.GOOD


def _nanoseconds(fallback: str) -> int:
    """The length of the fallback; 0 for none. Raises CliError."""
    from probelet.beside.takeover.fallback import FallbackError, read_fallback

    try:
        return read_fallback(fallback)
    except FallbackError as error:
        raise CliError(f"--fallback: {error}") from error


def _files(cert_file: Path | None, key_file: Path | None, *, self_signed: bool) -> tuple[Path, Path] | None:
    """The certificate's files; None for one of the webhook's own. Raises CliError unless exactly one way is given."""
    if self_signed and cert_file is None and key_file is None:
        return None
    if not self_signed and cert_file is not None and key_file is not None:
        return cert_file, key_file
    raise CliError("want either --cert-file and --key-file, or --self-signed")
