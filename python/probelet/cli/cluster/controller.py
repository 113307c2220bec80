"""``probelet controller``."""

from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from probelet.cli.cluster.options import CoexistKruise, Context, Kubeconfig, Namespace
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration
from probelet.cli.serve.flags import LOG, LogFlags
from probelet.cli.verb import verb

app = verb(
    "controller",
    "Enhanced liveness for pods with the annotation\n"
    'apps.kruise.io/using-enhanced-liveness: "true". It writes their liveness\n'
    "probes into the NodePodProbe of their node, and decides which failed probe leads\n"
    "to a restart: within budgets, limits and a rate for the whole cluster. A restart\n"
    "is a ContainerRecreateRequest, which the node carries out.\n\n"
    "Of several controllers one decides. The ConfigMap elp-config has the settings; a\n"
    "change counts at once, and 'enabled: \"false\"' stops every restart.",
    "probelet controller --kubeconfig ~/.kube/config",
    "probelet controller --listen-health 0.0.0.0:9444 --log-format json",
    "probelet controller --coexist-kruise --prober kruise",
)


TrustChanges: TypeAlias = Annotated[
    bool,
    Parameter(
        name="--trust-changes",
        negative="",
        help="An admission policy guards the probes' annotation, so commands that change later run.",
    ),
]
Listen: TypeAlias = Annotated[
    str | None,
    Parameter(
        name="--listen",
        metavar="ADDR",
        help="Loopback HOST:PORT of the page for people and of /incidents. Default: none.",
    ),
]


@app.default
def controller(
    *,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    namespace: Namespace = "probelet-system",
    config_map: Annotated[
        str, Parameter(name="--config-map", metavar="NAME", help="ConfigMap with the settings, in --namespace.")
    ] = "elp-config",
    coexist_kruise: CoexistKruise = False,
    prober: Annotated[
        Literal["probelet", "kruise"],
        Parameter(help="Whose daemon runs the probes: 'probelet agent' or OpenKruise's."),
    ] = "probelet",
    trust_changes: TrustChanges = False,
    listen_health: Annotated[
        str | None,
        Parameter(
            name="--listen-health",
            metavar="ADDR",
            help="HOST:PORT of /healthz, /readyz and /metrics, over TLS. Default: none.",
        ),
    ] = None,
    listen: Listen = None,
    duration: Duration = None,
    log: LogFlags = LOG,
) -> int:
    from contextlib import ExitStack, closing

    import probelet.daemon.libraries  # noqa: F401
    from probelet.daemon.cluster.controller import ControllerFlags, carry_out
    from probelet.errors import DaemonError
    from probelet.kube.error import KubeConfigError
    from probelet.server.address import listening_socket, parse_address
    from probelet.server.error import ServerError

    log.set_up()
    try:
        with ExitStack() as stack:
            pages = people = None
            if listen is not None:
                people = stack.enter_context(closing(listening_socket(parse_address(listen))))
            if listen_health is not None:
                address = parse_address(listen_health, flag="--listen-health")
                # A kubelet's probe goes to the address of a pod.
                found = listening_socket(address, allow_remote=True, flag="--listen-health")
                pages = stack.enter_context(closing(found))
            carry_out(
                ControllerFlags(
                    kubeconfig=kubeconfig,
                    context=context,
                    namespace=namespace,
                    config_map=config_map,
                    coexist=coexist_kruise,
                    is_prober_kruise=prober == "kruise",
                    trust_changes=trust_changes,
                    pages=pages,
                    people=people,
                    seconds=duration,
                )
            )
    except ServerError as error:
        raise CliError(str(error)) from error
    except (DaemonError, KubeConfigError) as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    return Exit.GOOD
