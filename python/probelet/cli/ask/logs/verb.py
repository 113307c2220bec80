"""``probelet logs``."""

from typing import Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import NamedPath, StateDir, above_zero
from probelet.cli.verb import verb

app = verb(
    "logs",
    "POD is NAME or NAMESPACE/NAME. Without POD the verb lists the logs that are\n"
    "kept: those of the last runs on the embedded runtime, in STATE_DIR/logs, or with\n"
    "--from those in a directory such as /var/log/pods. On a terminal, escape\n"
    "sequences other than colours are escaped.",
    "probelet logs web",
    "probelet logs web -c migrate --previous",
    "probelet logs shop/cart --all-containers --prefix --tail 20 -f",
    "probelet logs web --since 5m --timestamps",
    "probelet logs web --from /var/log/pods",
)


@app.default
def logs(
    pod: Annotated[str | None, Parameter(name="POD", help="Whose log. Default: list the logs that are kept.")] = None,
    container: Annotated[
        str | None,
        Parameter(
            name=["--container", "-c"],
            metavar="NAME",
            help="Container. Default: the one that the annotation kubectl.kubernetes.io/default-container "
            "names, else the first.",
        ),
    ] = None,
    *,
    all_containers: Annotated[bool, Parameter(show_default=False, help="The logs of every container.")] = False,
    previous: Annotated[
        bool, Parameter(name=["--previous", "-p"], show_default=False, help="The instance before the present one.")
    ] = False,
    follow: Annotated[
        bool,
        Parameter(name=["--follow", "-f"], show_default=False, help="Print new lines too, until the container ends."),
    ] = False,
    tail: Annotated[int, Parameter(metavar="N", help="Only the last N lines; -1: all.")] = -1,
    since: Annotated[
        float | None,
        Parameter(
            converter=above_zero,
            allow_leading_hyphen=True,
            metavar="TIME",
            help="Only lines that are newer than this: 5m, 1h30m.",
        ),
    ] = None,
    timestamps: Annotated[bool, Parameter(show_default=False, help="Begin each line with its time.")] = False,
    prefix: Annotated[bool, Parameter(show_default=False, help="Begin each line with its pod and container.")] = False,
    from_: Annotated[
        NamedPath | None,
        Parameter(name="--from", metavar="DIR", help="Directory with the logs of pods; no service is asked."),
    ] = None,
    state_dir: StateDir = None,
) -> int:
    import time

    from probelet.cli.ask.logs.listing import print_list
    from probelet.cli.ask.logs.source import find
    from probelet.cli.ask.logs.stream import Wanted, print_logs
    from probelet.server.control.state_dir import service_state_dir

    if all_containers and container is not None:
        raise CliError(f"--all-containers=true should not be specified with container name {container}")
    if tail < -1:
        raise CliError("--tail must be greater than or equal to -1")
    folder = state_dir or service_state_dir()
    if pod is None:
        print_list(folder, from_)
        return Exit.GOOD
    wanted = Wanted(
        container=container,
        all_containers=all_containers,
        previous=previous,
        follow=follow,
        lines=None if tail < 0 else tail,
        # Whole seconds, as kubectl asks for them.
        since_ns=None if since is None else time.time_ns() - round(since) * 1_000_000_000,
        timestamps=timestamps,
        prefix=prefix,
    )
    print_logs(find(pod, folder, from_), wanted)
    return Exit.GOOD
