"""``probelet incidents``."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, Output, StateDir
from probelet.cli.terminal import console, print_json
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from rich.console import Console

app = verb(
    "incidents",
    "An incident is what many failures have in common. Its kind says where to look:\n"
    "shared: several workloads ask one thing that fails; workload: one workload, or\n"
    "its newest version; node: most pods of a node; prober: probelet itself was late;\n"
    "container: one container alone. Restarts help against none of shared, node and\n"
    "prober. Ends with 1 if an incident is open, and 0 if none is.",
    "probelet incidents",
    "probelet incidents --follow",
    "probelet incidents -o json | jq -r '.open[] | .kind + \" \" + .value'",
    "probelet incidents || probelet status",
    "probelet incidents --url http://127.0.0.1:10290",
)


@app.default
def incidents(
    *,
    output: Output = "table",
    follow: Annotated[
        bool,
        Parameter(
            name=["--follow", "-f"],
            negative="",
            show_default=False,
            help="Print each change too, until Ctrl-C or --duration; then the exit code is 0.",
        ),
    ] = False,
    duration: Duration = None,
    url: Annotated[
        str | None,
        Parameter(
            name="--url",
            metavar="URL",
            help="Ask the pages at http://HOST:PORT, such as a controller's, in place of the service of --state-dir.",
        ),
    ] = None,
    state_dir: StateDir = None,
) -> int:
    from probelet.cli.ask.client import asked_client
    from probelet.server.control.command import RefusedError

    if duration is not None and not follow:
        raise CliError("--duration is for --follow", hint="probelet incidents --follow --duration 60s")
    out = console()
    if url is not None and state_dir is not None:
        raise CliError("--url and --state-dir exclude each other")
    with asked_client(url, state_dir) as client:
        try:
            if follow:
                for change in client.follow_incidents(seconds=duration):
                    _print_change(change, output, out)
                return Exit.GOOD
            document = client.incidents()
        except RefusedError as error:
            raise CliError(str(error), code=Exit.CANNOT) from error
    if output == "json":
        import msgspec

        print_json(msgspec.json.encode(document))
    else:
        _print_table(document, out)
    return Exit.FAILED if document["open"] else Exit.GOOD


def _print_table(document: dict[str, Any], out: "Console") -> None:
    from probelet.cli.console import line_of
    from probelet.server.summary import ended_incident, open_incident

    as_of = datetime.fromisoformat(document["as_of"])
    if not document["open"]:
        out.print(line_of(f"{document['node']}: no incident is open", "dim"))
    for incident in document["open"]:
        out.print(line_of(open_incident(incident, as_of), "yellow"), soft_wrap=True)
    for incident in document["ended"]:
        out.print(line_of(ended_incident(incident), "dim"), soft_wrap=True)


def _print_change(change: dict[str, Any], output: str, out: "Console") -> None:
    from probelet.cli.console import line_of
    from probelet.server.summary import ended_incident, open_incident

    if output == "json":
        import msgspec

        shown = {key: value for key, value in change.items() if key != "seq"}
        print_json(msgspec.json.encode(shown), flush=True)
        return
    at, incident = datetime.fromisoformat(change["at"]), change["incident"]
    said = ended_incident(incident) if change["change"] == "ended" else open_incident(incident, at)
    out.print(line_of(f"{at:%H:%M:%S} {change['change']}: {said}"), soft_wrap=True)
    out.file.flush()
