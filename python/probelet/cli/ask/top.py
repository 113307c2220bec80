"""``probelet top``."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, Output, StateDir
from probelet.cli.terminal import console, print_json, unicode_in
from probelet.cli.verb import verb
from probelet.server.document.top import Order, TopDocument
from probelet.server.ranking import top_document

if TYPE_CHECKING:
    from rich.console import Console

    from probelet.cli.ask.top_table import TopTable
    from probelet.server.control.client import Client

app = verb(
    "top",
    "Sorts by failing probes, then restarts, back-off, lateness of the prober, slow\n"
    "probes. On a terminal it repeats every second until q; with --once, -o json or\n"
    "into a pipe it prints once. LATE and TOOK are the worst values among the last\n"
    "runs of the container's probes. A wide terminal also shows BEATS, the last\n"
    "attempts of all its probes as in probelet status --history, and a narrow one\n"
    "shows fewer columns.",
    "probelet top",
    "probelet top --sort restarts --once",
    "probelet top -o json | jq -r '.rows[] | select(.failing > 0) | .pod'",
)


@app.default
def top(
    *,
    sort: Annotated[Order, Parameter(help="First sort key; hurt compares all of them.")] = "hurt",
    once: Annotated[bool, Parameter(show_default=False, help="Print all containers once.")] = False,
    output: Output = "table",
    duration: Duration = None,
    state_dir: StateDir = None,
) -> int:
    from probelet.cli.ask.client import service_client
    from probelet.cli.ask.watch import watch

    out = console()
    live = output == "table" and not once and out.is_terminal
    if duration is not None and not live:
        raise CliError("--duration is for a repeated display on a terminal", hint="probelet top --once")
    with service_client(state_dir) as client:
        if live:
            # The cursor stays in the terminal's last line.
            watch(lambda: _table(client, sort, out, out.height - 1), out, duration)
        elif output == "json":
            _print_json(top_document(client.status(), sort))
        else:
            out.print(_table(client, sort, out, None))
    return Exit.GOOD


def _table(client: "Client", sort: Order, out: "Console", lines: int | None) -> "TopTable":
    from probelet.cli.ask.top_table import BEATS, BEATS_WIDTH, TopTable

    status = client.status(BEATS if out.width >= BEATS_WIDTH else 0)
    return TopTable(top_document(status, sort), status, unicode=unicode_in(out.encoding), lines=lines)


def _print_json(document: TopDocument) -> None:
    import msgspec

    print_json(msgspec.json.encode(document), indented=True, flush=True)
