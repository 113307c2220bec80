"""``probelet serve``."""

from typing import Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import AllowRemote, Duration, NamedPath, NodeName, StateDir
from probelet.cli.serve.flags import CONFIG, LOG, ConfigFlags, LogFlags
from probelet.cli.verb import verb

app = verb(
    "serve",
    "For a node agent that manages pods itself and lets probelet probe them: gRPC on\n"
    "a unix socket (proto/probelet/v1/prober.proto), open to this user and root. The\n"
    "caller runs exec probes, or the runtime behind --runtime does. SIGTERM or\n"
    "Ctrl-C ends serving and leaves every pod as it is.",
    "probelet serve --socket /run/probelet/prober.sock",
    "probelet serve --runtime unix:///run/containerd/containerd.sock",
    "probelet serve --listen 127.0.0.1:10291",
)


@app.default
def serve(
    *,
    socket: Annotated[
        NamedPath | None,
        Parameter(name="--socket", metavar="PATH", help="Socket to serve. Default: prober.sock in --state-dir."),
    ] = None,
    runtime: Annotated[
        str | None, Parameter(metavar="RUNTIME", help="CRI socket that runs exec probes: unix:///...")
    ] = None,
    config: ConfigFlags = CONFIG,
    listen: Annotated[
        str | None,
        Parameter(metavar="ADDR", help="HOST:PORT of HTTP pages, or unix:PATH; port 0: any free. Default: none."),
    ] = None,
    allow_remote: AllowRemote = False,
    state_dir: StateDir = None,
    node_name: NodeName = None,
    duration: Duration = None,
    log: LogFlags = LOG,
) -> int:
    from contextlib import ExitStack, closing
    from socket import gethostname

    import probelet.daemon.libraries  # noqa: F401
    from probelet.base.files.unix_socket import SocketPathError, check_socket_path
    from probelet.cli.serve.start import begin
    from probelet.daemon.serve import ServeFlags, carry_out
    from probelet.errors import DaemonError
    from probelet.server.address import listening_socket, parse_address
    from probelet.server.control.state_dir import default_state_dir, locked_state_dir
    from probelet.server.error import ServerError

    configuration, descriptors = begin("serve", config, log, endpoint=runtime)
    try:
        address = None if listen is None else parse_address(listen)
        with locked_state_dir(state_dir or default_state_dir()) as locked, ExitStack() as stack:
            pages = None
            if address is not None:
                pages = stack.enter_context(closing(listening_socket(address, allow_remote=allow_remote)))
            path = socket or locked / "prober.sock"
            check_socket_path(path, f"--socket {path}")
            flags = ServeFlags(
                configuration=configuration,
                path=path,
                runtime=runtime,
                node=node_name or gethostname(),
                seconds=duration,
                pages=pages,
                descriptors=descriptors,
            )
            carry_out(flags, locked)
    except (ServerError, SocketPathError) as error:
        raise CliError(str(error)) from error
    except DaemonError as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    return Exit.GOOD
