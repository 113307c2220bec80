"""``probelet pause``."""

from typing import Annotated, Literal

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import ContainerArgument, Output, PodArgument, StateDir, above_zero
from probelet.cli.verb import verb

app = verb(
    "pause",
    "While a probe is paused it makes no attempt, and its result stays: a container\n"
    "that was ready stays ready, and no liveness failure ends it. The pause ends by\n"
    "itself, survives a restart of the agent, and 'probelet status' shows it.",
    "probelet pause web --for 10m",
    "probelet pause shop/web app --probe liveness --for 1h",
    "probelet pause web --end",
)


@app.default
def pause(
    pod: PodArgument,
    container: ContainerArgument = None,
    *,
    probe: Annotated[
        Literal["liveness", "readiness", "startup"] | None, Parameter(help="Only this type. Default: all.")
    ] = None,
    length: Annotated[
        float | None,
        Parameter(
            name="--for",
            converter=above_zero,
            allow_leading_hyphen=True,
            metavar="TIME",
            help="How long: 10m, 1h; whole seconds, at most 24h.",
        ),
    ] = None,
    end: Annotated[bool, Parameter(negative="", show_default=False, help="End the pause now.")] = False,
    output: Output = "table",
    state_dir: StateDir = None,
) -> int:
    from probelet.cli.ask.client import service_client
    from probelet.cli.terminal import print_json, print_lines
    from probelet.server.control.command import PAUSE_SECONDS_MAX, NoSuchPodError, RefusedError

    if (length is None) is not end:
        raise CliError("want either --for TIME or --end", hint=f"probelet pause {pod} --for 10m")
    seconds = 0 if length is None else round(length)
    if length is not None and not 1 <= seconds <= PAUSE_SECONDS_MAX:
        raise CliError(f"--for: want from 1s to {PAUSE_SECONDS_MAX // 3600}h")
    with service_client(state_dir) as client:
        try:
            document = client.pause(pod, container, probe, seconds)
        except NoSuchPodError as error:
            raise CliError(str(error), hint="probelet status") from error
        except RefusedError as error:
            raise CliError(str(error), code=Exit.CANNOT) from error
    if output == "json":
        import msgspec

        print_json(msgspec.json.encode(document))
        return Exit.GOOD
    names = ", ".join(f"{found['container']} {found['probe_type']}" for found in document["probes"])
    until = document["probes"][0]["paused_until"]
    print_lines(f"paused until {until}: {names}" if until else f"not paused any more: {names}")
    return Exit.GOOD
